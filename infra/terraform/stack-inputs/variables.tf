variable "stage" {
  description = "Stage of the stack, as in `osls deploy --stage`"
  type        = string
}

variable "organisation_id" {
  description = "Organisation whose accounts hold clusters; empty for clusters of this account only"
  type        = string
  default     = ""
}

variable "alarm_emails" {
  description = "Who gets the alarms by mail, after confirming it"
  type        = list(string)
  default     = []
}

variable "vpc_id" {
  description = "VPC of API servers that only a VPC can reach; empty for none"
  type        = string
  default     = ""
}

variable "subnet_ids" {
  description = "Its private subnets, with a way to DynamoDB, SQS and KMS"
  type        = list(string)
  default     = []
}

variable "permissions_boundary_arn" {
  description = "Managed policy that bounds every role; empty for none"
  type        = string
  default     = ""
}

variable "event_bus_name" {
  description = "Name of an event bus that is made for the decisions of fleets; empty for none"
  type        = string
  default     = ""
}
