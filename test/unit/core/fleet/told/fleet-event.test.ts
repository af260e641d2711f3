// A decision as a CloudEvent: the attributes of the specification, the published schema of its data, and its size.
import assert from 'node:assert/strict';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import {
  DECISION_SCHEMA,
  EVENT_BYTES_MAX,
  fleetEvent,
} from '../../../../../src/core/fleet/told/fleet-facts.ts';
import {
  STANDINGS,
  fleetDecision,
  largestRecord,
} from '../../../../support/fleet-record-samples.ts';

const file = new URL('../../../../../infra/schema/fleet-decision.schema.json', import.meta.url);
const schema = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
const isValid = new Ajv({ strict: true, strictRequired: true }).compile(schema);

describe('fleetEvent', () => {
  it('has the attributes of CloudEvents 1.0', () => {
    const { event, id, type } = fleetEvent(fleetDecision(), 'rollcall-prod');
    const { data: _data, ...attributes } = event;
    assert.deepEqual(attributes, {
      specversion: '1.0',
      id: 'fleet-uid/3/7/stage-opened',
      source: '/rollcall/stacks/rollcall-prod/fleets',
      type: 'dev.rollcall.fleet.stage-opened',
      subject: 'monitoring/agent',
      time: '2026-11-25T12:00:00Z',
      datacontenttype: 'application/json',
      dataschema: schema['$id'],
    });
    assert.equal(schema['$id'], DECISION_SCHEMA);
    for (const name of Object.keys(event)) assert.match(name, /^[a-z0-9]{1,20}$/);
    assert.deepEqual([id, type], [event['id'], event['type']]);
  });

  it('is the same event when the same decision is told again', () => {
    const tell = () => fleetEvent(fleetDecision(), 'rollcall-prod');
    assert.deepEqual(tell(), tell());
  });

  it('has data that the published schema takes, however the fleet stands', () => {
    for (const [name, record] of Object.entries(STANDINGS)) {
      const { data } = fleetEvent(fleetDecision({ record, cluster: clusterId('c1') }), 's').event;
      assert.ok(isValid(data), `${name}: ${JSON.stringify(isValid.errors)}`);
    }
  });

  it('has a schema that refuses other data', () => {
    assert.equal(
      isValid({
        ...(fleetEvent(fleetDecision(), 's').event['data'] as object),
        decision: 'guessed',
      }),
      false,
    );
    assert.equal(isValid({}), false);
  });

  it('stays below 64 KB, whatever the record holds', () => {
    const message = '\u0001"é'.repeat(100_000);
    const decision = fleetDecision({ message, record: largestRecord() });
    const { event } = fleetEvent(decision, 's'.repeat(28));
    assert.ok(Buffer.byteLength(JSON.stringify(event)) < EVENT_BYTES_MAX);
    assert.ok(isValid(event['data']), JSON.stringify(isValid.errors));
  });
});
