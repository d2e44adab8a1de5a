/** Finds the session of a client that was told nothing: in this user's daemon, by the file that has its address and key. */

import { HttpTransport, type Transport } from './connect.ts';
import { messageOf, shorten, TrailblazeError } from './errors.ts';
import { isRecord, type CallOptions, type Json } from './method.ts';
import { isUnreachable, parseAddress, post } from './transport.ts';

/** What stands for the address of Trailblaze until the session is found. */
export const DAEMON_ADDRESS = 'trailblaze:daemon';

/** The daemon answers at once, unless the session is being opened. */
const FIND_DEADLINE_MS = 30_000;

type Daemon = { address: string; key: string };
type Session = { name: string; address: string; key: string };
type Refusal = { message: string; hint?: string; exit?: string; isNoSession?: boolean };

/** Looks for the session with the first call. If there is none, the next call looks again. */
export class DaemonTransport implements Transport {
  #finding: Promise<Session> | undefined;

  async unary(path: string, request: Json, options: CallOptions): Promise<unknown> {
    const session = await this.#session(options);
    try {
      return await transportOf(session).unary(path, request, options);
    } catch (error) {
      throw explain(session, error);
    }
  }

  async *stream(path: string, request: Json, options: CallOptions): AsyncGenerator<unknown, void, void> {
    const session = await this.#session(options);
    try {
      yield* transportOf(session).stream(path, request, options);
    } catch (error) {
      throw explain(session, error);
    }
  }

  async #session({ signal }: CallOptions): Promise<Session> {
    signal?.throwIfAborted();
    // Calls that begin at the same time share it, so it does not end with one of them.
    const finding = (this.#finding ??= findSession());
    try {
      return await finding;
    } catch (error) {
      if (this.#finding === finding) {
        this.#finding = undefined;
      }
      throw error;
    }
  }
}

function transportOf({ address, key }: Session): Transport {
  return new HttpTransport(address, key);
}

function explain({ name }: Session, error: unknown): unknown {
  if (!(error instanceof TrailblazeError) || !(error.code === 'unauthenticated' || isUnreachable(error))) {
    return error;
  }
  const text = `session \`${name}\` has ended, or its daemon has: ${error.message}`;
  const hint = '\nhint: `trailblaze device connect` opens one, and a new client uses it';
  return new TrailblazeError(error.code, text + hint, { cause: error });
}

/** The session that TRAILBLAZE_SESSION names, or the only one that is open. */
async function findSession(): Promise<Session> {
  const name = process.env['TRAILBLAZE_SESSION'] || undefined;
  const sessions: Session[] = [];
  const refusals: Refusal[] = [];
  for (const daemon of await daemons()) {
    const answer = await ask(daemon, name);
    if (answer !== undefined) {
      'key' in answer ? sessions.push(answer) : refusals.push(answer);
    }
  }
  const problems = refusals.filter(({ isNoSession }) => isNoSession !== true);
  const [session] = sessions;
  if (session !== undefined && sessions.length === 1 && problems.length === 0) {
    return session;
  }
  if (session !== undefined || problems.length > 1 || problems[0]?.exit === 'invalid') {
    const texts = [...problems.map(({ message }) => message), ...sessions.map((one) => `session \`${one.name}\` is open`)];
    throw refused(texts.join('; '), 'set TRAILBLAZE_SESSION to the name of one');
  }
  const refusal = problems[0] ?? refusals[0];
  if (refusal !== undefined) {
    throw refused(refusal.message, refusal.hint, refusal.isNoSession === true ? 'failed_precondition' : 'unavailable');
  }
  throw refused('no Trailblaze session is open', '`trailblaze device connect` opens one');
}

/** Asks for access to a session. Undefined if the daemon is gone. */
async function ask({ address, key }: Daemon, name: string | undefined): Promise<Session | Refusal | undefined> {
  const body = Buffer.from(JSON.stringify({ access: { session: name === undefined ? {} : { name } } }));
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  let status: number;
  let text: string;
  try {
    ({ status, text } = await post(`${address}/daemon`, { headers, body, deadlineMs: FIND_DEADLINE_MS }));
  } catch (error) {
    if (isUnreachable(error)) {
      return undefined;
    }
    throw error;
  }
  if ([401, 403, 404, 405].includes(status)) {
    // The daemon was killed, and another program has its port.
    return undefined;
  }
  // Lines before the last one are progress.
  const last = parse(text.trim().split('\n').at(-1) ?? '');
  const error = isRecord(last) ? last['error'] : undefined;
  if (isRecord(error) && typeof error['message'] === 'string') {
    return { ...error, message: error['message'], hint: typeof error['hint'] === 'string' ? error['hint'] : undefined } as Refusal;
  }
  const answer = isRecord(last) && isRecord(last['answer']) ? last['answer']['access'] : undefined;
  if (isRecord(answer) && ['name', 'address', 'key'].every((field) => typeof answer[field] === 'string')) {
    const session = answer as unknown as Session;
    return { name: session.name, address: parseAddress(session.address), key: session.key };
  }
  return {
    message: `the daemon answers in a way that this version of the client does not understand: ${shorten(text)}`,
    hint: 'use the version of `trailblaze` and of this package that belong together',
  };
}

/** The daemons of this user that live. A program that a team built with tools of its own has its own daemon. */
async function daemons(): Promise<Daemon[]> {
  const user = process.geteuid?.();
  if (user === undefined) {
    return [];
  }
  const { lstat, open, readdir, stat } = await fs();
  const isFolder = (path: string): Promise<boolean> => stat(path).then((facts) => facts.isDirectory(), () => false);
  let folder = `${process.env['TMPDIR'] || '/tmp'}/trailblaze-${user}`;
  // Agents start servers without most variables.
  for (const runtime of [process.env['XDG_RUNTIME_DIR'] || undefined, `/run/user/${user}`]) {
    if (runtime !== undefined && (await isFolder(runtime))) {
      folder = `${runtime}/trailblaze`;
      break;
    }
  }
  const check = (path: string, { mode, uid }: { mode: number; uid: number }): void => {
    const isLink = (mode & 0o170000) === 0o120000;
    if (isLink || uid !== user || (mode & 0o077) !== 0) {
      const text = `\`${path}\` is not used: it belongs to another user, or other users may use it`;
      throw refused(text, `\`chmod go= ${path}\` changes that`, 'permission_denied');
    }
  };

  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => name.endsWith('.daemon.json')).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) {
      return [];
    }
    throw refused(`\`${folder}\` cannot be read: ${messageOf(error)}`, undefined, 'permission_denied');
  }
  if (names.length > 0) {
    // Before anything in it is believed: it may be in a folder that all users share.
    check(folder, await lstat(folder));
  }
  const found: Daemon[] = [];
  for (const name of names) {
    const path = `${folder}/${name}`;
    const facts = await lstat(path).catch(() => undefined);
    if (facts === undefined) {
      // It has just ended.
      continue;
    }
    check(path, facts);
    const file = await open(path, 'r').catch(() => undefined);
    if (file === undefined) {
      continue;
    }
    try {
      // Nobody else can have put another file there: the folder was checked.
      const about = parse(await file.readFile('utf8'));
      if (!isRecord(about) || typeof about['address'] !== 'string' || typeof about['key'] !== 'string') {
        throw refused(`\`${path}\` is not the file of a daemon that this version understands`, undefined, 'internal');
      }
      if (isAlive(about['pid'])) {
        found.push({ address: parseAddress(about['address']), key: about['key'] });
      }
    } finally {
      await file.close();
    }
  }
  return found;
}

/** Whether a process of this user has the id. A killed daemon leaves its file, and its port may be another program's by now. */
function isAlive(pid: unknown): boolean {
  try {
    return typeof pid === 'number' && pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

type Fs = Pick<typeof import('node:fs/promises'), 'lstat' | 'open' | 'readdir' | 'stat'>;

/** Loaded when it is needed: the script engine has no files. */
async function fs(): Promise<Fs> {
  return import('node:fs/promises');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return isRecord(error) && typeof error['code'] === 'string' ? error['code'] : '';
}

function refused(
  message: string,
  hint: string | undefined,
  code: 'failed_precondition' | 'unavailable' | 'permission_denied' | 'internal' = 'failed_precondition',
): TrailblazeError {
  return new TrailblazeError(code, hint === undefined ? message : `${message}\nhint: ${hint}`);
}
