output "parameters" {
  description = "Parameters of serverless.yml, by their names"
  value       = local.parameters
}

output "deploy_options" {
  description = "The same as options of `osls deploy`"
  value       = join(" ", [for name, value in local.parameters : "--param=\"${name}=${value}\""])
}
