output "watcher_role_arn" {
  value = aws_iam_role.watcher_role.arn
}

output "watcher_role_id" {
  description = "What the registration names as the sender"
  value       = aws_iam_role.watcher_role.unique_id
}

output "renewer_role_arn" {
  value = one(aws_iam_role.renewer_role[*].arn)
}

output "renewer_role_id" {
  description = "What the registration names as the renewer"
  value       = one(aws_iam_role.renewer_role[*].unique_id)
}
