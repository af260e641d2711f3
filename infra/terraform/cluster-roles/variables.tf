# The parameters of infra/cluster/roles.yml, by the same names.
variable "cluster_id" {
  description = "The id under which the cluster is registered"
  type        = string
  validation {
    condition     = can(regex("^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", var.cluster_id))
    error_message = "cluster_id has letters, digits, dots, dashes and underscores, 100 at most."
  }
}

variable "cluster_uid" {
  description = "UID of the namespace kube-system; needed with a renewer"
  type        = string
  default     = ""
}

variable "sender_role_path" {
  description = "SenderRolePath among the outputs of the service"
  type        = string
  validation {
    condition     = can(regex("^/([A-Za-z0-9_-]+/)+$", var.sender_role_path))
    error_message = "sender_role_path begins and ends with a slash."
  }
}

variable "watcher_role_name" {
  description = "Of the role for the watcher"
  type        = string
}

variable "renewer_role_name" {
  description = "Empty for no renewer"
  type        = string
  default     = ""
}

variable "events_queue_arn" {
  description = "EventsQueueArn among the outputs of the service"
  type        = string
}

variable "credentials_queue_arn" {
  description = "CredentialsQueueArn among the outputs of the service; needed with a renewer"
  type        = string
  default     = ""
}

variable "credentials_key_arn" {
  description = "CredentialsKeyArn among the outputs of the service; needed with a renewer"
  type        = string
  default     = ""
}

variable "trust" {
  description = "How a service account becomes a role: pod-identity or web-identity"
  type        = string
  validation {
    condition     = contains(["pod-identity", "web-identity"], var.trust)
    error_message = "trust is pod-identity or web-identity."
  }
}

variable "eks_cluster_arn" {
  description = "Needed with pod-identity"
  type        = string
  default     = ""
}

variable "eks_cluster_name" {
  description = "Needed with pod-identity"
  type        = string
  default     = ""
}

variable "oidc_issuer" {
  description = "Issuer of the cluster's tokens without https://; needed with web-identity"
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^[A-Za-z0-9./_-]*$", var.oidc_issuer))
    error_message = "oidc_issuer is an address without https://, port or query."
  }
}

variable "oidc_audience" {
  description = "Audience of the tokens"
  type        = string
  default     = "sts.amazonaws.com"
}

variable "create_oidc_provider" {
  description = "Whether the account does not know the issuer yet: yes or no"
  type        = string
  default     = "no"
  validation {
    condition     = contains(["yes", "no"], var.create_oidc_provider)
    error_message = "create_oidc_provider is yes or no."
  }
}

variable "permissions_boundary_arn" {
  description = "Policy that bounds both roles, where a service control policy demands one; empty for none"
  type        = string
  default     = ""
}
