import { JsonFields } from '#pkg/cni/json-fields.ts';
import type { ReleaseArgs } from './admin.ts';

export function decodeReleaseArgs(body: unknown): ReleaseArgs {
  const fields = JsonFields.of(body, 'the body of a release', 'bad-input');
  return {
    name: fields.text('name', 253),
    uid: fields.text('uid', 128),
    resourceVersion: fields.text('resourceVersion', 64),
    asOfMs: fields.optionalInteger('asOfMs', 0, Number.MAX_SAFE_INTEGER) ?? fields.refuse('asOfMs', 'is missing'),
  };
}
