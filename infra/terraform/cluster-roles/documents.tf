# Who may become a role, and what it may do. A role's unique id is the cluster's identity: two clusters never share one.
locals {
  has_renewer = var.renewer_role_name != ""
  trusts_pods = var.trust == "pod-identity"

  trust_documents = {
    for part in ["watcher", "renewer"] : part => local.trusts_pods ? jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect    = "Allow"
        Principal = { Service = "pods.eks.amazonaws.com" }
        Action    = ["sts:AssumeRole", "sts:TagSession"]
        Condition = {
          ArnEquals = { "aws:SourceArn" = var.eks_cluster_arn }
          StringEquals = {
            "aws:RequestTag/kubernetes-namespace"       = "rollcall-system"
            "aws:RequestTag/kubernetes-service-account" = "rollcall-${part}"
          }
        }
      }]
      }) : jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect    = "Allow"
        Principal = { Federated = "arn:${local.partition}:iam::${local.account_id}:oidc-provider/${var.oidc_issuer}" }
        Action    = "sts:AssumeRoleWithWebIdentity"
        Condition = {
          StringEquals = {
            "${var.oidc_issuer}:sub" = "system:serviceaccount:rollcall-system:rollcall-${part}"
            "${var.oidc_issuer}:aud" = var.oidc_audience
          }
        }
      }]
    })
  }

  watcher_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "SendEvents"
      Effect   = "Allow"
      Action   = "sqs:SendMessage"
      Resource = var.events_queue_arn
    }]
  })

  renewer_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid      = "SendTokens"
        Effect   = "Allow"
        Action   = "sqs:SendMessage"
        Resource = var.credentials_queue_arn
      },
      {
        Sid      = "SealTokens"
        Effect   = "Allow"
        Action   = "kms:Encrypt"
        Resource = var.credentials_key_arn
        Condition = {
          StringEquals = {
            "kms:EncryptionContext:cluster"    = var.cluster_id
            "kms:EncryptionContext:clusterUid" = var.cluster_uid
          }
        }
      },
    ]
  })
}
