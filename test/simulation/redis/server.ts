import { createHash } from 'node:crypto';
import type { Command, Reply } from '../../../src/bus/redis/connection.ts';
import type { VirtualTime } from '../time/virtual-time.ts';
import { COMMANDS, type CommandSpec, type CommandTarget } from './commands.ts';
import { Keyspace, WrongType } from './keyspace.ts';
import { runScript } from './lua/interpreter.ts';
import { LuaError } from './lua/values.ts';

/** A client's connection, as the server sees it. */
export interface Session {
  readonly kind: 'normal' | 'pubsub';
  deliver(channel: string, payload: string): void;
  /** Called when the server does not serve the channel's slot any more. */
  moved?(channel: string): void;
  /** Called when the server closes the connection. */
  close(): void;
}

/** The link over which a replica gets its master's commands. */
interface Replication {
  readonly replica: SimulatedRedis;
  lagMs: number;
  /** When the last command arrives: a link keeps the order. */
  arrivesAt: number;
  open: boolean;
}

/** A node's knowledge of its cluster. */
interface ClusterMembership {
  /** Says why the node does not run a command on keys and channels of one slot; undefined: it does. */
  redirect(keys: readonly string[], channels: readonly string[]): string | undefined;
  /** Replies to CLUSTER. */
  reply(subcommand: string): unknown;
}

type Traits = Pick<CommandSpec, 'writes' | 'grows'>;

/** Says why a server refuses a command at present; undefined: it does not. */
export type Refusal = (name: string, spec: Traits) => string | undefined;

export const OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";

/** One Redis process. It runs one command, or one transaction, at a time. */
export class SimulatedRedis implements CommandTarget {
  readonly name: string;
  readonly time: VirtualTime;
  readonly sessions = new Set<Session>();
  /** Functions that end the connections that this process has accepted. */
  readonly accepted = new Set<(silent: boolean) => void>();
  readonly channels = new Map<string, Set<Session>>();
  role: 'master' | 'replica' = 'master';
  alive = true;
  /** Whether a dead process's machine is gone, too: then clients are not told that their connections have ended. */
  silent = false;
  /** Set by faults, to refuse with BUSY, NOPERM and so on. */
  refuses: Refusal = () => undefined;
  /** Set if the server is a node of a cluster. */
  cluster: ClusterMembership | undefined;
  maxMemory = 0;
  denied: string | undefined;
  readonly refusals = new Map<string, number>();
  /** The session whose command runs now. */
  #session: Session | undefined;
  /** How often the process has been started. */
  starts = 1;
  #replicationId: string;
  #replicationIds = 0;
  #data: Keyspace;
  /** Calls that wait until the process is not frozen any more. */
  #heldBack: (() => void)[] | undefined;
  #replication: Replication | undefined;
  /** A replica's link to its master. */
  #source: Replication | undefined;

  constructor(name: string, time: VirtualTime) {
    this.name = name;
    this.time = time;
    this.#data = new Keyspace(time);
    this.#replicationId = this.#newReplicationId();
  }

  /** Changes with each start and each promotion. A replica has its master's id. */
  get replicationId(): string {
    return this.#replicationId;
  }

  get data(): Keyspace {
    return this.#data;
  }

  get now(): number {
    return this.time.now;
  }

  /** Stops the process; commands that come meanwhile wait. */
  freeze(): void {
    this.#heldBack ??= [];
  }

  thaw(): void {
    const waiting = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const run of waiting) run();
  }

  /** Runs `run` at once, or when the process is not frozen any more. */
  whenRunning(run: () => void): void {
    if (this.#heldBack === undefined) run();
    else this.#heldBack.push(run);
  }

  /** Ends the process, and all its connections. */
  crash({ silent = false } = {}): void {
    this.alive = false;
    this.#heldBack = undefined;
    this.silent = silent;
    for (const end of this.accepted) end(silent);
    this.accepted.clear();
    this.sessions.clear();
    this.channels.clear();
    this.#cutReplication();
  }

  /** @param keepsData whether the server still has its earlier data */
  restart(keepsData: boolean): void {
    this.starts += 1;
    this.#replicationId = this.#newReplicationId();
    this.alive = true;
    this.silent = false;
    if (!keepsData) this.#data.clear();
  }

  /** Sends all commands that this master runs from now on to the replica, which begins with a copy of the data. */
  replicateTo(replica: SimulatedRedis, lagMs: number): void {
    this.#cutReplication();
    replica.role = 'replica';
    replica.#cutReplication();
    replica.#replicationId = this.#replicationId;
    replica.#data = this.#data.copy();
    this.#replication = { replica, lagMs, arrivesAt: 0, open: true };
    replica.#source = this.#replication;
  }

  set replicationLagMs(lagMs: number) {
    if (this.#replication !== undefined) this.#replication.lagMs = lagMs;
  }

  /** Whether the replica gets its master's commands. */
  get isLinked(): boolean {
    return this.#source?.open === true;
  }

  /** Makes the replica a master with the commands that have arrived; commands on their way are lost. */
  promote(): void {
    if (this.#source !== undefined) this.#source.open = false;
    this.#source = undefined;
    if (this.role === 'replica') this.#replicationId = this.#newReplicationId();
    this.role = 'master';
  }

  killOthers(kind: Session['kind']): void {
    for (const session of this.sessions) {
      if (session.kind === kind && session !== this.#session) this.drop(session);
    }
  }

  /** Forgets a session and closes it. */
  drop(session: Session): void {
    this.forget(session);
    session.close();
  }

  /** To be called when a session's connection is gone. */
  forget(session: Session): void {
    if (!this.sessions.delete(session)) return;
    for (const [channel, members] of this.channels) {
      if (members.delete(session) && members.size === 0) this.channels.delete(channel);
    }
  }

  /** @returns an error, or nothing yet, since the acknowledgement of a SUBSCRIBE is a push */
  subscribe(session: Session, channel: string): string | undefined {
    const refused = this.cluster?.redirect([], [channel]) ?? this.#refusal('subscribe', {});
    if (refused !== undefined) return refused;
    const members = this.channels.get(channel);
    if (members === undefined) this.channels.set(channel, new Set([session]));
    else members.add(session);
    return undefined;
  }

  unsubscribe(session: Session, channel: string): void {
    const members = this.channels.get(channel);
    if (members?.delete(session) === true && members.size === 0) this.channels.delete(channel);
  }

  /** The node of a cluster does not serve the channel any more. */
  unserve(channel: string): void {
    const members = this.channels.get(channel) ?? [];
    this.channels.delete(channel);
    for (const session of members) session.moved?.(channel);
  }

  /** Takes a key over from another node of the cluster. */
  restore(key: string, from: Keyspace): void {
    this.#data.adopt(key, from);
    const sent = this.#data.copy();
    this.#toReplica((replica) => replica.#data.adopt(key, sent));
  }

  run([name, ...args]: Command, session?: Session): Reply {
    const lower = name.toLowerCase();
    const refused = this.#whyNot(this.#refusalOf(lower, args), [[name, ...args]]);
    if (refused !== undefined) return { error: new Error(refused) };
    this.#session = session;
    const reply = this.#run(lower, args);
    this.#session = undefined;
    return reply;
  }

  /** @returns the replies; or the reason why no command has run */
  transact(commands: readonly Command[]): readonly Reply[] | string {
    // Each queued command takes memory, even if it runs without.
    let refused = this.maxMemory > 0 ? OUT_OF_MEMORY : undefined;
    for (const [name, ...args] of commands) refused ??= this.#refusalOf(name.toLowerCase(), args);
    refused = this.#whyNot(refused, commands);
    if (refused !== undefined) return refused;
    return commands.map(([name, ...args]) => this.#run(name.toLowerCase(), args));
  }

  /** EVAL script numkeys [key …] [arg …] @throws LuaError */
  evaluate([script = '', count, ...rest]: readonly string[]): unknown {
    const keys = Number(count);
    let isDirty = false;
    return runScript(script, rest.slice(0, keys), rest.slice(keys), (called, args) => {
      const name = called.toLowerCase();
      const spec = COMMANDS[name];
      if (spec === undefined) throw new LuaError('ERR Unknown Redis command called from script');
      const refused = refusalInScript(this.#reasonAgainst(name, spec), isDirty);
      if (refused !== undefined) throw new LuaError(refused);
      if (this.#redirection([[name, ...args]]) !== undefined) {
        throw new LuaError('ERR Script attempted to access a non local key in a cluster node');
      }
      const reply = this.#run(name, args);
      if ('error' in reply) throw new LuaError(reply.error.message);
      isDirty ||= spec.writes === true;
      return reply.value;
    });
  }

  /** Evicts a key, to free its memory. */
  evict(key: string): void {
    this.#run('del', [key]);
  }

  /** @returns the number of this server's sessions that get the message */
  publish(channel: string, payload: string): number {
    const members = this.channels.get(channel);
    if (members === undefined) return 0;
    for (const session of members) session.deliver(channel, payload);
    return members.size;
  }

  #refusalOf(name: string, args: readonly string[]): string | undefined {
    const spec = COMMANDS[name];
    if (spec === undefined) return `ERR unknown command '${name}'`;
    const { arity } = spec;
    const given = args.length + 1;
    if (arity >= 0 ? given !== arity : given < -arity) {
      return `ERR wrong number of arguments for '${name}' command`;
    }
    return this.#refusal(name, spec);
  }

  /** Redis first checks rights, then the slot, and then all else. */
  #whyNot(refused: string | undefined, commands: readonly Command[]): string | undefined {
    return refused?.startsWith('NOPERM') === true ? refused : (this.#redirection(commands) ?? refused);
  }

  /** The keys of all commands of a transaction count together. */
  #redirection(commands: readonly Command[]): string | undefined {
    if (this.cluster === undefined) return undefined;
    const touched = commands.map(([name, ...args]) => [name.toLowerCase(), ...args] as const);
    const channels = touched.flatMap(([name, channel = '']) => (name === 'spublish' ? [channel] : []));
    return this.cluster.redirect(touched.flatMap(keysOf), channels);
  }

  #refusal(name: string, spec: Traits): string | undefined {
    const refused = this.#reasonAgainst(name, spec);
    if (refused !== undefined) this.refusals.set(name, (this.refusals.get(name) ?? 0) + 1);
    return refused;
  }

  #reasonAgainst(name: string, spec: Traits): string | undefined {
    const refused = this.refuses(name, spec);
    if (refused !== undefined) return refused;
    if (name === this.denied) {
      return `NOPERM User default has no permissions to run the '${name}' command`;
    }
    if (spec.writes === true && this.role === 'replica') {
      return "READONLY You can't write against a read only replica.";
    }
    return spec.grows === true && this.maxMemory > 0 ? OUT_OF_MEMORY : undefined;
  }

  #run(name: string, args: readonly string[]): Reply {
    const spec = COMMANDS[name];
    const [replicated, ...words] = spec?.replicatedAs?.(this, args) ?? [name, ...args];
    try {
      const value = spec?.run(this, args);
      if (spec?.replicates === true || spec?.writes === true) {
        this.#toReplica((replica) => replica.#run(replicated, words));
      }
      return { value };
    } catch (thrown) {
      if (thrown instanceof WrongType || thrown instanceof LuaError) return { error: thrown };
      throw thrown;
    }
  }

  #toReplica(run: (replica: SimulatedRedis) => void): void {
    const link = this.#replication;
    if (link === undefined || !link.open) return;
    link.arrivesAt = Math.max(link.arrivesAt, this.time.now + link.lagMs);
    this.time.at(link.arrivesAt, undefined, () => {
      if (link.open && link.replica.alive) link.replica.whenRunning(() => run(link.replica));
    });
  }

  #newReplicationId(): string {
    this.#replicationIds += 1;
    return createHash('sha1').update(`${this.name} ${this.#replicationIds}`).digest('hex');
  }

  #cutReplication(): void {
    if (this.#replication !== undefined) this.#replication.open = false;
    if (this.#source !== undefined) this.#source.open = false;
    this.#replication = undefined;
    this.#source = undefined;
  }
}

/**
 * Returns the error that a script gets if it is refused a command.
 *
 * @param reason the refusal that a client would get at present
 * @param isDirty whether the script has written: then memory does not matter any more
 */
function refusalInScript(reason: string | undefined, isDirty: boolean): string | undefined {
  if (reason === undefined || reason.startsWith('BUSY')) return undefined;
  if (reason.startsWith('NOPERM')) {
    return "ERR The user executing the script can't run this command or subcommand";
  }
  return reason.startsWith('OOM') && isDirty ? undefined : reason;
}

function keysOf([name, ...args]: readonly [string, ...string[]]): readonly string[] {
  if (name === 'eval') return args.slice(2, 2 + Number(args[1]));
  const keys = COMMANDS[name]?.keys;
  return keys === 'all' ? args : args.slice(0, keys === 'first' ? 1 : 0);
}
