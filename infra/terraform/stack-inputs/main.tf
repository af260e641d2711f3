# What a stack may be given and does not make itself: a topic for its alarms with a key of its own, a security group where
# its functions reach API servers through a VPC, and an event bus. In the account and region of the stack.

data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

locals {
  account_id        = data.aws_caller_identity.current.account_id
  partition         = data.aws_partition.current.partition
  topic_arn         = aws_sns_topic.alarms.arn
  security_group_id = var.vpc_id == "" ? "" : aws_security_group.functions[0].id
}

# Under alias/aws/sns alarms would get lost silently.
resource "aws_kms_key" "alarms" {
  description         = "Alarms of ${local.name}"
  enable_key_rotation = true
  policy              = local.key_policy
}

resource "aws_sns_topic" "alarms" {
  name              = "${local.name}-alarms"
  kms_master_key_id = aws_kms_key.alarms.arn
}

resource "aws_sns_topic_policy" "alarms" {
  arn    = aws_sns_topic.alarms.arn
  policy = local.topic_policy
}

resource "aws_sns_topic_subscription" "alarms" {
  for_each  = toset(var.alarm_emails)
  topic_arn = aws_sns_topic.alarms.arn
  protocol  = "email"
  endpoint  = each.value
}

# Nothing comes in; API servers and AWS are reached over HTTPS, at ports that differ.
resource "aws_security_group" "functions" {
  count       = var.vpc_id == "" ? 0 : 1
  name        = "${local.name}-functions"
  description = "Functions of ${local.name} on their way to API servers"
  vpc_id      = var.vpc_id

  egress {
    from_port   = 0
    to_port     = 65535
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_cloudwatch_event_bus" "decisions" {
  count = var.event_bus_name == "" ? 0 : 1
  name  = var.event_bus_name
}
