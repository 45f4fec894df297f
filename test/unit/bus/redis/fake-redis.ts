import {
  TransactionRefused,
  type Command,
  type CommandConnection,
  type ConnectionListener,
  type ListeningConnection,
  type Reply,
} from '../../../../src/bus/redis/connection.ts';

type OnMessage = (payload: Buffer | string) => void;

/** A Redis with one pod: its two connections, which the test makes and breaks. */
export class FakeRedis {
  readonly commands = new FakeCommands(this);
  readonly listening = new FakeListening();
  readonly values = new Map<string, string>();
  /** Members of its only sorted set, the announcements. */
  kept: readonly string[] = [];
  role = 'master';
  replicationId = 'a';
  /** Pods beside this one that listen to what all pods do. */
  otherListeners = 0;
  /** Why it refuses a command; undefined for one that it runs. */
  refusal: (command: Command) => string | undefined = () => undefined;

  run([name, ...args]: Command): unknown {
    const [key = '', value = '', option] = args;
    switch (name) {
      case 'PUBLISH':
        return this.listening.deliver(key, value) + (key === '@gaps' ? this.otherListeners : 0);
      case 'INFO':
        return `# Replication\r\nrole:${this.role}\r\nmaster_replid:${this.replicationId}\r\n`;
      case 'GET':
        return this.values.get(key) ?? null;
      case 'SET':
        if (option !== 'NX' || !this.values.has(key)) this.values.set(key, value);
        return 'OK';
      case 'PUBSUB':
        return args.slice(1).flatMap((channel) => [channel, 0]);
      case 'ZRANGE':
        return this.kept;
      case 'ZADD':
        this.kept = [...this.kept, ...args.filter((_, index) => index > 0 && index % 2 === 0)];
        return null;
      case 'ZREMRANGEBYSCORE':
      case 'PEXPIRE':
        return 0;
      case 'EVAL': {
        const [, , , payload = '', ...channels] = args;
        for (const channel of channels) this.listening.deliver(channel, payload);
        return null;
      }
      case 'DEL':
        return Number(this.values.delete(key));
      default:
        throw new Error(`expected a command of the bus, got ${name}`);
    }
  }
}

class FakeConnection {
  #listener: ConnectionListener | undefined;
  isReady = false;
  reconnects = 0;

  start(listener: ConnectionListener): void {
    this.#listener = listener;
  }

  stop(): void {
    this.isReady = false;
  }

  connect(): void {
    this.isReady = true;
    this.#listener?.onReady();
  }

  lose(): void {
    this.isReady = false;
    this.#listener?.onLost();
  }

  reconnect(): void {
    this.reconnects += 1;
    this.lose();
  }
}

class FakeCommands extends FakeConnection implements CommandConnection {
  readonly #redis: FakeRedis;

  constructor(redis: FakeRedis) {
    super();
    this.#redis = redis;
  }

  send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (!this.isReady) return Promise.reject(new Error('the connection is lost'));
    return Promise.resolve(commands.map((command) => this.#replyTo(command)));
  }

  transact(commands: readonly Command[]): Promise<readonly Reply[]> {
    const refusal = commands.map((command) => this.#redis.refusal(command)).find(Boolean);
    return refusal === undefined ? this.send(commands) : Promise.reject(new TransactionRefused(refusal));
  }

  #replyTo(command: Command): Reply {
    const refusal = this.#redis.refusal(command);
    return refusal === undefined ? { value: this.#redis.run(command) } : { error: new Error(refusal) };
  }
}

class FakeListening extends FakeConnection implements ListeningConnection {
  bytesRead = 0;
  readonly #channels = new Map<string, OnMessage>();
  readonly #unreplied: (() => void)[] = [];
  /** Whether it refuses to join a channel. */
  refuses: (channel: string) => boolean = () => false;
  /** Whether it listens to another server, or to a connection that is half open. */
  isDeaf = false;
  /** Whether no reply comes to SUBSCRIBE: the connection is half open. */
  isSilent = false;
  /** What comes meanwhile is not delivered. */
  isPaused = false;
  /** Whether it listens to a replica of the server that is published to, which does not count it. */
  isAtReplica = false;
  /** Channels of connections that are lost, which the server still counts. */
  readonly #counted: string[] = [];

  join(channel: string, listener: OnMessage): Promise<void> {
    if (this.refuses(channel)) return Promise.reject(new Error('NOPERM this user may not'));
    this.#channels.set(channel, listener);
    return this.isSilent ? new Promise((resolve) => this.#unreplied.push(resolve)) : Promise.resolve();
  }

  /** A new connection, over which what was not replied to is sent again. */
  override connect(): void {
    this.isSilent = false;
    for (const resolve of this.#unreplied.splice(0)) resolve();
    super.connect();
  }

  get joined(): readonly string[] {
    return [...this.#channels.keys()];
  }

  /** The connection is lost, and the server does not notice. */
  vanish(): void {
    this.#counted.push(...this.#channels.keys());
    this.lose();
  }

  leave(channel: string): void {
    this.#channels.delete(channel);
  }

  fence(): Promise<void> {
    return Promise.resolve();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** @returns how many connections have got it */
  deliver(channel: string, payload: string): number {
    const lost = this.#counted.filter((counted) => counted === channel).length;
    const listener = this.#channels.get(channel);
    if (!this.isReady || this.isDeaf || listener === undefined) return lost;
    if (!this.isPaused) listener(payload);
    return lost + (this.isAtReplica ? 0 : 1);
  }
}
