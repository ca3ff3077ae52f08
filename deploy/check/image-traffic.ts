/**
 * Keep-alive traffic for a service that is told to end meanwhile; it is run in the network of its container:
 * `node deploy/check/image-traffic.ts http://127.0.0.1:8080 QUERY`. Prints a line `open` once everything is under way, and at the
 * end a `TrafficReport`.
 */
import { Agent, type IncomingMessage, request } from 'node:http';

export interface TrafficReport {
  /** Searches that were answered with 200, the last of each connection with `Connection: close`. */
  readonly answered: number;
  /** Statuses of the requests whose bodies were completed after the drain had begun. */
  readonly completed: readonly number[];
  /** Faults of requests: none may be cut. */
  readonly faults: readonly string[];
}

interface Asked {
  readonly path: string;
  readonly agent: Agent;
  readonly body?: string;
  /** The second half of the body waits for it. */
  readonly complete?: Promise<void>;
}

const BUSY_CONNECTIONS = 12;
const HALF_SENT = 6;
const IDLE_CONNECTIONS = 4;
/** Each connection has been answered so often before the traffic counts as under way. */
const WARM_ANSWERS = 20;
/** Between the first answer that closes its connection and the second halves of the bodies. */
const COMPLETE_AFTER_MS = 200;

const [base = '', query = ''] = process.argv.slice(2);
const report = { answered: 0, completed: [] as number[], faults: [] as string[] };
const draining = Promise.withResolvers<void>();

if (base !== '') {
  const idle = Array.from({ length: IDLE_CONNECTIONS }, () => send({ path: '/healthz', agent: oneConnection() }));
  await Promise.all(idle);
  const complete = draining.promise.then(() => new Promise<void>((go) => setTimeout(go, COMPLETE_AFTER_MS)));
  const half = Array.from({ length: HALF_SENT }, () => completeLate(complete));
  const warm: Promise<void>[] = [];
  const busy = Array.from({ length: BUSY_CONNECTIONS }, (_, at) => {
    const isWarm = Promise.withResolvers<void>();
    warm.push(isWarm.promise);
    return searchUntilClosed(at, isWarm.resolve);
  });
  await Promise.all(warm);
  console.log('open');
  await Promise.all([...busy, ...half]);
  console.log(JSON.stringify(report satisfies TrafficReport));
  // Connections that the service left open would keep this process.
  process.exit(0);
}

/** One search after the other, without a pause, until an answer says that its connection closes. */
async function searchUntilClosed(at: number, onWarm: () => void): Promise<void> {
  const agent = oneConnection();
  try {
    for (let count = 0; ; count += 1) {
      // Half of them are new to the service, so that its engine is at work too.
      const text = count % 2 === 0 ? query : `${query} ${at} ${count}`;
      const answer = await send({ path: `/search?q=${encodeURIComponent(text)}`, agent });
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
      report.answered += 1;
      if (count === WARM_ANSWERS) onWarm();
      if (answer.headers.connection !== 'close') continue;
      draining.resolve();
      return;
    }
  } catch (error) {
    report.faults.push(`search ${at}: ${error instanceof Error ? error.message : error}`);
    onWarm();
    draining.resolve();
  }
}

/** A batch whose second half is sent when the service drains already: it began before and has to be answered. */
async function completeLate(complete: Promise<void>): Promise<void> {
  const body = JSON.stringify({ searches: [{ q: query }, { q: 'nothing like it' }] });
  try {
    const { statusCode = 0 } = await send({ path: '/msearch', agent: oneConnection(), body, complete });
    report.completed.push(statusCode);
  } catch (error) {
    report.faults.push(`batch: ${error instanceof Error ? error.message : error}`);
  }
}

function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

function send({ path, agent, body, complete }: Asked): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers =
      body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const sent = request(`${base}${path}`, { agent, method: body === undefined ? 'GET' : 'POST', headers });
    sent.once('error', reject);
    sent.once('response', (answer) => {
      answer.once('error', reject).once('end', () => resolve(answer));
      answer.resume();
    });
    if (body === undefined || complete === undefined) {
      sent.end(body);
      return;
    }
    const half = body.length / 2;
    sent.write(body.slice(0, half));
    complete.then(() => sent.end(body.slice(half)));
  });
}
