import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderWho } from '#ctl/render/render-who.ts';
import { parseAddressArgument } from './address-argument.ts';

export async function who(session: Session, address: string, options: { domain?: string }): Promise<ExitCode> {
  const answer = await session.client.who(parseAddressArgument(address), options.domain);
  show(session, answer, (shown) => renderWho(shown, session.terminal.nowMs()));
  return answer.records.length > 0 ? 0 : 1;
}
