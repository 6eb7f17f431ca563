import { Command, Option } from 'commander';
import type { ExitCode, Session } from '#ctl/client/session.ts';
import type { Need, SourceFlags } from '#ctl/client/source.ts';
import type { Terminal } from '#ctl/client/terminal.ts';
import { check } from '#ctl/commands/check.ts';
import { conflicts } from '#ctl/commands/conflicts.ts';
import { type ExplainOptions, explain, withPodArgument } from '#ctl/commands/explain.ts';
import { gc } from '#ctl/commands/gc.ts';
import { IMPORT_SOURCES, type ImportOptions, importState } from '#ctl/commands/import.ts';
import { inUse } from '#ctl/commands/in-use.ts';
import { list } from '#ctl/commands/list.ts';
import { pools } from '#ctl/commands/pools.ts';
import { type ReleaseOptions, releaseAsked } from '#ctl/commands/release.ts';
import { subnets } from '#ctl/commands/subnets.ts';
import { type SupportOptions, support } from '#ctl/commands/support.ts';
import { who } from '#ctl/commands/who.ts';
import { DEFAULT_SOCKET } from '#pkg/agentapi/paths.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { VERSION } from '#pkg/text/version.ts';

export interface GlobalOptions extends SourceFlags {
  readonly output: Session['output'];
}

/** The work of a command. It runs after the session that it needs is open. */
type Act = (work: (session: Session) => Promise<ExitCode>, need?: Need) => Promise<void>;

const EXIT_CODES = `
Exit codes: 0 done, or the answer is yes; 1 the answer is no (findings, no holder, not released, not
imported); 2 no answer (wrong usage, agent not running, permission denied).
Who is asked: --socket or --kubeconfig (with --context), else the environment's IPLEDGER_SOCKET, else its KUBECONFIG, else the agent of this
host. Of the API server only pools, subnets, list, who, conflicts, in-use, check, release, support and import can be asked.`;

const ALTHOUGH_IN_DOUBT = [
  'also where it is not proven that the sandbox of the ended pod is gone. If the sandbox is still there, it answers on the',
  'address, and so does the pod that gets it next: two MACs on one address',
].join(' ');

const OUTPUTS: readonly Session['output'][] = ['text', 'json', 'report'];

function refuseReport(program: Command, command: Command): void {
  if (program.opts<GlobalOptions>().output !== 'report' || command.name() === 'check') return;
  throw new IpamError('bad-input', '-o report goes with check, and with no other command');
}

export function buildProgram(terminal: Terminal, act: Act): Command {
  const program = new Command('ipledgerctl')
    .version(VERSION)
    .description('Asks the ipledger agent of this host, or the API server, who holds which address, and why.')
    .option('--socket <path>', `ask the agent behind this socket; without any choice ${DEFAULT_SOCKET}`)
    .option('--kubeconfig <file>', 'ask the API server of this file')
    .option('--context <name>', 'ask the cluster of this context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'how answers are printed').choices(OUTPUTS).default('text'))
    .hook('preAction', refuseReport)
    .exitOverride()
    .configureOutput({ writeOut: terminal.write, writeErr: terminal.complain })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXIT_CODES);
  addQuestions(program, act);
  addExplain(program, act);
  addDeeds(program, act);
  return program;
}

function addQuestions(program: Command, act: Act): void {
  program
    .command('pools')
    .description('the pools: used, total, free')
    .action(() => act(pools));
  program
    .command('subnets')
    .description('the subnets of the cluster: free, their pools with the application, and who waits')
    .action(() => act(subnets, 'cluster'));
  program
    .command('list')
    .description('the records: one line per address in use')
    .option('--pool <name>', 'only the records of this pool')
    .option('--node <name>', 'only the records of this node')
    .action((query) => act((session) => list(session, query)));
  program
    .command('who')
    .description('who holds an address; exit code 1 if it has no holder')
    .argument('<address>', 'IPv4 or IPv6, without prefix length')
    .option('--domain <name>', 'look in this domain only')
    .action((address, options) => act((session) => who(session, address, options)));
  program
    .command('conflicts')
    .description('the addresses that foreign hosts use, with their MAC; exit code 1 if there are any')
    .action(() => act(conflicts));
  program
    .command('in-use')
    .description('who has an address now; exit code 1 while there is one. Run it before ipledger is uninstalled')
    .action(() => act(inUse));
  program
    .command('check')
    .description(
      'look for what should not be; exit code 1 if something is found. With -o report for `release --from-report`',
    )
    .action(() => act(check));
}

function addExplain(program: Command, act: Act): void {
  const repeatable = (flags: string, text: string) =>
    new Option(flags, `${text}; may be repeated`).default([], 'none').argParser(append);
  program
    .command('explain')
    .description('which pools an ADD would try, in which order, and which not and why; takes nothing')
    .argument('[kind]', 'pod')
    .argument('[name]', 'namespace/name of a pod of this node')
    .addOption(repeatable('--ipv4-pool <name>', 'default_ipv4_ippool of the CNI configuration'))
    .addOption(repeatable('--ipv6-pool <name>', 'default_ipv6_ippool of the CNI configuration'))
    .option('--namespace <name>', "the pod's namespace", '')
    .option('--pod <name>', "the pod's or container's name", '')
    .option('--interface <name>', 'the interface inside the container', 'eth0')
    .addOption(repeatable('--address <address>', 'an address asked for'))
    .action((kind: string | undefined, name: string | undefined, options: ExplainOptions) =>
      act((session) => explain(session, withPodArgument(options, kind, name)), 'agent'),
    );
}

function addDeeds(program: Command, act: Act): void {
  program
    .command('release')
    .description('give an address back by hand, after showing who holds it, or those that a report marks')
    .argument('[address]', 'IPv4 or IPv6, without prefix length')
    .option('--domain <name>', 'the domain, where the address is held in several')
    .option(
      '--from-report <file>',
      'what `check -o report` printed, with `release` or `release-in-doubt` in the lines to be released',
    )
    .option('--although-in-doubt', ALTHOUGH_IN_DOUBT, false)
    .option('--yes', 'do not ask', false)
    .action((address: string | undefined, options: ReleaseOptions) =>
      act((session) => releaseAsked(session, address, options)),
    );
  program
    .command('gc')
    .description('free the records whose holder is proven gone, now instead of at the next sweep')
    .option('--dry-run', 'only say what would be freed and what is kept', false)
    .action((options: { dryRun: boolean }) => act((session) => gc(session, options), 'agent'));
  program
    .command('support')
    .description(
      'one archive to send with a question: versions, settings, records, pools, Events, logs, metrics; no Secret',
    )
    .option('--file <path>', 'where it is written; by default here, with the time in its name')
    .option('-n, --namespace <name>', 'where agents and controller run', 'ipledger')
    .action((options: SupportOptions) => act((session) => support(session, options)));
  program
    .command('import')
    .description(
      'every address that Spiderpool gave out gets its record, then agents may begin; exit code 1 while Spiderpool may still give out addresses or its objects cannot be read. With --from vitistack the same for static-ip-operator, then the controller may begin',
    )
    .addOption(
      new Option(
        '--from <system>',
        'spiderpool: pods; vitistack: the machines of static-ip-operator; in-cluster: a pool of Cluster API',
      )
        .choices(IMPORT_SOURCES)
        .default('spiderpool'),
    )
    .option('--dry-run', 'only say what would get a record, and what stands in the way', false)
    .option('--pool <name>', 'in-cluster: the GlobalInClusterIPPool, or with --namespace the InClusterIPPool')
    .option(
      '-n, --namespace <name>',
      'where agents and controller run, ipledger if not given; in-cluster: where the InClusterIPPool is',
    )
    .action((options: ImportOptions) => act((session) => importState(session, options), 'cluster'));
}

function append(value: string, previous: readonly string[]): string[] {
  return [...previous, value];
}
