-- Health of a FleetDaemonSet for Argo CD (docs/fleet.md, mirror). Lua 5.1, no libraries. A breach outranks a pause; what was not
-- observed is never Healthy, nor is what says neither that it succeeded nor that it is ready.
local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    conditions[condition.type] = condition
  end
end

local function is(name)
  return conditions[name] ~= nil and conditions[name].status == "True"
end

local function health(status, name)
  local condition = conditions[name]
  local message = ""
  if condition ~= nil and condition.message ~= nil then
    message = condition.message
  end
  return { status = status, message = message }
end

if obj.spec == nil or obj.status == nil or obj.status.observedGeneration == nil then
  return { status = "Progressing", message = "Rollcall did not write this object yet" }
end
if obj.metadata.generation ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the status is of an older release" }
end
if is("Degraded") then
  return health("Degraded", "Degraded")
end
if is("Stalled") then
  return health("Degraded", "Stalled")
end
if is("Paused") then
  return health("Suspended", "Paused")
end
if is("Succeeded") and is("Ready") then
  return health("Healthy", "Succeeded")
end
-- It waits for somebody, or for clusters that need not come.
if is("Reconciling") and not is("Progressing") then
  return health("Suspended", "Reconciling")
end
return health("Progressing", "Progressing")
