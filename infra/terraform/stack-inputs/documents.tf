# What CloudWatch may do with the topic and its key (docs/operations.md), and what `osls deploy` is given.
locals {
  name = "rollcall-${var.stage}"

  topic_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "AlarmsPublish"
      Effect    = "Allow"
      Principal = { Service = "cloudwatch.amazonaws.com" }
      Action    = "sns:Publish"
      Resource  = local.topic_arn
      Condition = { StringEquals = { "aws:SourceAccount" = local.account_id } }
    }]
  })

  key_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "Administer"
        Effect    = "Allow"
        Principal = { AWS = "arn:${local.partition}:iam::${local.account_id}:root" }
        Action    = "kms:*"
        Resource  = "*"
      },
      {
        Sid       = "AlarmsPublish"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = ["kms:Decrypt", "kms:GenerateDataKey*"]
        Resource  = "*"
      },
    ]
  })

  parameters = { for name, value in {
    organisationId         = var.organisation_id
    alarmTopicArn          = local.topic_arn
    subnetIds              = var.vpc_id == "" ? "" : join(",", var.subnet_ids)
    securityGroupIds       = local.security_group_id
    permissionsBoundaryArn = var.permissions_boundary_arn
    eventBusName           = var.event_bus_name
  } : name => value if value != "" }
}
