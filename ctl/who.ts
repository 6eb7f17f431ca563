import { parseAddressArgument } from './address-argument.ts';
import { renderWho } from './render-who.ts';
import { type ExitCode, type Session, show } from './session.ts';

export async function who(session: Session, address: string, options: { domain?: string }): Promise<ExitCode> {
  const answer = await session.client.who(parseAddressArgument(address), options.domain);
  show(session, answer, (shown) => renderWho(shown, session.terminal.nowMs()));
  return answer.records.length > 0 ? 0 : 1;
}
