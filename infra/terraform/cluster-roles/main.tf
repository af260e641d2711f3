# The AWS roles of one cluster, in the account where the cluster is: the same as infra/cluster/roles.yml, for Terraform.
# `rollcall cluster add ID --print terraform` prints this module with everything filled in.

data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

locals {
  account_id = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  boundary   = var.permissions_boundary_arn == "" ? null : var.permissions_boundary_arn
}

# Other roles of the account may have come to rely on it.
resource "aws_iam_openid_connect_provider" "oidc_provider" {
  count          = var.create_oidc_provider == "yes" ? 1 : 0
  url            = "https://${var.oidc_issuer}"
  client_id_list = [var.oidc_audience]

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_iam_role" "watcher_role" {
  name                 = var.watcher_role_name
  path                 = var.sender_role_path
  permissions_boundary = local.boundary
  description          = "Watcher of the cluster ${var.cluster_id}: sends events to Rollcall"
  assume_role_policy   = local.trust_documents["watcher"]
}

resource "aws_iam_role_policy" "watcher_role" {
  name   = "watcher"
  role   = aws_iam_role.watcher_role.id
  policy = local.watcher_policy
}

resource "aws_eks_pod_identity_association" "watcher_association" {
  count           = local.trusts_pods ? 1 : 0
  cluster_name    = var.eks_cluster_name
  namespace       = "rollcall-system"
  service_account = "rollcall-watcher"
  role_arn        = aws_iam_role.watcher_role.arn
}

resource "aws_iam_role" "renewer_role" {
  count                = local.has_renewer ? 1 : 0
  name                 = var.renewer_role_name
  path                 = var.sender_role_path
  permissions_boundary = local.boundary
  description          = "Renewer of the cluster ${var.cluster_id}: sends sealed tokens to Rollcall"
  assume_role_policy   = local.trust_documents["renewer"]
}

resource "aws_iam_role_policy" "renewer_role" {
  count  = local.has_renewer ? 1 : 0
  name   = "renewer"
  role   = aws_iam_role.renewer_role[0].id
  policy = local.renewer_policy
}

resource "aws_eks_pod_identity_association" "renewer_association" {
  count           = local.has_renewer && local.trusts_pods ? 1 : 0
  cluster_name    = var.eks_cluster_name
  namespace       = "rollcall-system"
  service_account = "rollcall-renewer"
  role_arn        = aws_iam_role.renewer_role[0].arn
}
