/**
 * What people look at with kubectl, from a local cluster: tables, documents, descriptions, what the server offers.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pollUntil } from '../control-plane/poll.ts';
import { describeKubectl, EXAMPLE, WORKERS } from './on-local-cluster.ts';

const { namespace, name, label } = EXAMPLE;

describeKubectl('reads a local cluster', ({ kubectl, stage }) => {
  it('gets nodes, DaemonSets and pods of all namespaces with wide columns', async () => {
    const text = await kubectl().succeed('get nodes,ds,pods -A -o wide');
    assert.match(text, /NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP/);
    assert.match(text, /node\/control-plane-1 +Ready +control-plane/);
    assert.match(
      text,
      /NAMESPACE +NAME +DESIRED +CURRENT +READY +UP-TO-DATE +AVAILABLE +NODE SELECTOR/,
    );
    assert.match(text, /node-agents +daemonset.apps\/log-collector +5 +5 +5 +5 +5/);
    assert.match(text, /NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE +IP +NODE/);
    const rows = text.match(/node-agents +pod\/log-collector-\w+ +1\/1 +Running +0/g) ?? [];
    assert.equal(rows.length, WORKERS.length + 1);
  });

  it('gets objects as YAML, JSON, names, columns and paths', async () => {
    const daemonSet = `get ds ${name} -n ${namespace}`;
    assert.match(
      await kubectl().succeed(`${daemonSet} -o yaml`),
      /^apiVersion: apps\/v1\nkind: DaemonSet\n/,
    );
    const object = JSON.parse(await kubectl().succeed(`${daemonSet} -o json`)) as { kind: string };
    assert.equal(object.kind, 'DaemonSet');
    assert.equal(await kubectl().succeed(`${daemonSet} -o name`), `daemonset.apps/${name}\n`);
    const columns = 'custom-columns=NAME:.metadata.name,NODE:.spec.nodeName';
    assert.match(
      await kubectl().succeed(`get pods -n ${namespace} -o ${columns}`),
      /^NAME +NODE\nlog-collector-\w+ +(worker|control-plane)-/,
    );
    const path = 'jsonpath={.status.numberReady}';
    assert.equal(await kubectl().succeed(`${daemonSet} -o ${path}`), '5');
    const list = JSON.parse(
      await kubectl().succeed(`get pods -n ${namespace} -l ${label} -o json`),
    ) as {
      kind: string;
      items: unknown[];
    };
    assert.equal(list.kind, 'List');
    assert.equal(list.items.length, 5);
  });

  it('selects by label and field, sorts, and shows labels', async () => {
    const onNode = await kubectl().succeed(
      `get pods -A --field-selector spec.nodeName=worker-1 --no-headers`,
    );
    assert.equal(onNode.trim().split('\n').length, 1);
    const nodes = await kubectl().succeed(
      'get nodes --sort-by=.metadata.name --show-labels --no-headers',
    );
    assert.match(nodes, /^control-plane-1 [^]*kubernetes.io\/hostname=worker-4/);
    assert.match(await kubectl().succeed('get ns'), /node-agents +Active/);
    const missing = await kubectl().run('get pod absent');
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /Error from server \(NotFound\): pods "absent" not found/);
  });

  it('describes a node', async () => {
    const text = await kubectl().succeed('describe node control-plane-1');
    assert.match(text, /Roles: +control-plane/);
    assert.match(text, /Taints: +node-role.kubernetes.io\/control-plane:NoSchedule/);
    assert.match(text, /Ready +True[^\n]+KubeletReady/);
    assert.match(text, /Non-terminated Pods: +\(1 in total\)/);
    assert.match(text, /node-agents +log-collector-\w+ +50m/);
  });

  it('describes a pod, with its events', async () => {
    const names = await kubectl().succeed(`get pods -n ${namespace} -l ${label} -o name`);
    const [pod = ''] = names.split('\n');
    const text = await eventually(`describe ${pod} -n ${namespace}`, /Normal +Started /);
    assert.match(text, /Controlled By: +DaemonSet\/log-collector/);
    assert.match(text, /Image: +registry.example\/log-collector:1.0.0/);
    assert.match(text, /State: +Running/);
    assert.match(text, /Normal +Scheduled [^\n]+Successfully assigned/);
    assert.match(text, /Normal +Started [^\n]+/);
  });

  it('describes a DaemonSet, with its events', async () => {
    const text = await eventually(`describe ds ${name} -n ${namespace}`, /SuccessfulCreate/);
    assert.match(text, /Desired Number of Nodes Scheduled: 5/);
    assert.match(text, /Pods Status: +5 Running/);
    assert.match(text, /SuccessfulCreate/);
  });

  it('gets events', async () => {
    const text = await eventually(`get events -n ${namespace}`, /SuccessfulCreate/);
    assert.match(text, /LAST SEEN +TYPE +REASON +OBJECT +MESSAGE/);
    assert.match(text, /Normal +SuccessfulCreate +daemonset\/log-collector/);
    assert.match(
      await kubectl().succeed(`events -n ${namespace} --for ds/${name}`),
      /SuccessfulCreate/,
    );
  });

  it('watches', async () => {
    const watching = kubectl().start('get configmaps -n default -w');
    const objects = kubectl().start('get configmaps -n default -w -o name');
    // A watch shows what is there first; the cluster's own authority is.
    await watching.waitFor(/kube-root-ca.crt/);
    await objects.waitFor(/kube-root-ca.crt/);
    await stage().admin.post('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'seen' },
      data: { one: '1' },
    });
    await watching.waitFor(/seen +1 +/);
    await stage().admin.patch('/api/v1/namespaces/default/configmaps/seen', { data: { two: '2' } });
    await watching.waitFor(/seen +2 +/);
    await objects.waitFor(/configmap\/seen\nconfigmap\/seen\n/);
    await watching.stop();
    await objects.stop();
  });

  it('waits for conditions', async () => {
    const pods = await kubectl().succeed(
      `wait --for=condition=Ready pod -l ${label} -n ${namespace} --timeout=120s`,
    );
    assert.equal(pods.match(/condition met/g)?.length, 5);
    await kubectl().succeed('wait --for=condition=Ready node --all --timeout=120s');
    await kubectl().succeed(
      `wait --for=jsonpath={.status.numberReady}=5 ds/${name} -n ${namespace} --timeout=120s`,
    );
  });

  it('lists what the server offers, and explains it', async () => {
    const resources = await kubectl().succeed('api-resources --sort-by=name');
    assert.match(resources, /daemonsets +ds +apps\/v1 +true +DaemonSet/);
    assert.match(resources, /nodes +no +v1 +false +Node/);
    assert.match(await kubectl().succeed('api-versions'), /^apps\/v1$/m);
    assert.match(await kubectl().succeed('explain pod.spec'), /containers\s+<\[\]Container>/);
    assert.match(
      await kubectl().succeed('explain ds.spec.updateStrategy.rollingUpdate --recursive'),
      /maxUnavailable/,
    );
  });

  it('tells versions', async () => {
    assert.match(await kubectl().succeed('version'), /Server Version: v1\.36\.3/);
    assert.equal(await kubectl().succeed('get --raw /readyz'), 'ok');
  });

  /** What the command prints once that is in it: events are written after what they tell of. */
  async function eventually(command: string, pattern: RegExp): Promise<string> {
    let text = '';
    await pollUntil({ deadlineMs: 60_000, description: String(pattern) }, async () => {
      text = await kubectl().succeed(command);
      return pattern.test(text) ? true : undefined;
    }).catch((cause: unknown) => {
      throw new Error(text, { cause });
    });
    return text;
  }
});
