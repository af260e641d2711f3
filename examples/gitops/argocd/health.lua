-- Health of a DaemonSet for Argo CD (docs/gitops.md). Lua 5.1, no libraries. As Argo CD's own check, but with a rollout policy
-- a DaemonSet is Progressing until every pod is of the newest template, under OnDelete too. No field says that a rollout halted.
local status = obj.status or {}
local generation = obj.metadata.generation or 0
if (status.observedGeneration or 0) < generation then
  return { status = "Progressing", message = "the DaemonSet controller did not see the last change yet" }
end

local strategy = (obj.spec or {}).updateStrategy or {}
local hasPolicy = (obj.metadata.annotations or {})["rollcall.dev/rollout"] ~= nil
local desired = status.desiredNumberScheduled or 0
local updated = status.updatedNumberScheduled or 0
local available = status.numberAvailable or 0
local counted = updated .. " of " .. desired .. " pods are of the newest template"

if strategy.type == "OnDelete" and not hasPolicy then
  return { status = "Healthy", message = counted }
end
if updated < desired then
  if hasPolicy then
    counted = counted .. "; rollcall rollout status says whether the rollout goes on, waits or halted"
  end
  return { status = "Progressing", message = counted }
end
if available < desired then
  return { status = "Progressing", message = available .. " of " .. desired .. " pods are available" }
end
return { status = "Healthy", message = counted }
