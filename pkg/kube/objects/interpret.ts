import type { ApiResponse, Lost } from '#pkg/kube/transport/exchange.ts';
import { type Failure, type FailureKind, failure, type Outcome } from './outcome.ts';
import { readFailure, readSeconds, type Target } from './status.ts';

/** The outcome of a request: the JSON of a good answer, or why there is none. */
export function interpret(result: ApiResponse | Lost, target: Target): Outcome<unknown> {
  if ('wasSent' in result) return failure(kindOf(result), result.message);
  const { body } = result;
  if (typeof body !== 'string') {
    return body.isTooLarge
      ? failure('TooLarge', 'the answer is larger than allowed')
      : failure('BadAnswer', 'the answer is not what its encoding says');
  }
  const parsed = parseJson(body);
  if (result.status < 200 || result.status > 299) return refusalOf(result, parsed, target);
  return parsed === undefined
    ? failure('BadAnswer', `the answer is not JSON: ${JSON.stringify(body.slice(0, 80))}`)
    : { ok: true, object: parsed };
}

function kindOf({ wasSent, isOutOfTime }: Lost): FailureKind {
  if (wasSent) return 'Unknown';
  return isOutOfTime ? 'OutOfTime' : 'Unreachable';
}

function refusalOf(answer: ApiResponse, parsed: unknown, target: Target): Failure {
  const refusal = readFailure(answer.status, parsed, target);
  const retryAfterMs = readSeconds(answer.retryAfter);
  return retryAfterMs === null ? refusal : { ...refusal, retryAfterMs };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
