import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTcpProxy, type TcpProxy } from '../../loadtest/fault-proxy/tcp-proxy.ts';
import { freePorts } from '../../loadtest/stack/process.ts';
import { type RunningSearchd, rotations, type SearchServer, startSearchd } from '../../loadtest/stack/sphinx.ts';
import { writeSphinxSource } from '../../src/engines/sphinx/source.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { INDEX } from './configuration.ts';

export type EngineServer = Awaited<ReturnType<typeof startEngineServer>>;

export interface EngineServerOptions {
  readonly directory: string;
  readonly domain: SearchDomain;
  readonly documents: readonly Document[];
  /** `distributed`: one half of the documents is local, the other behind an agent: the same searchd on another port. */
  readonly layout: 'plain' | 'distributed';
  readonly server: SearchServer;
}

const MAX_CONNECTIONS = 32;

/** A searchd that a test can end and restart on the same port with the same indexes. */
export async function startEngineServer(options: EngineServerOptions) {
  const { directory, server } = options;
  const [port = 0, agentPort = 0] = await freePorts(2);
  const agent =
    options.layout === 'plain' ? undefined : await startTcpProxy({ target: { host: '127.0.0.1', port: agentPort } });
  const configFile = await writeConfiguration(options, { port, agentPort, agent: agent?.address });
  let searchd: RunningSearchd = await startSearchd({ directory, from: { configFile, port }, server });
  let runs = true;
  return {
    port,
    /** The proxy in front of the agent that holds half of the documents; undefined for the layout `plain`. */
    agent: agent as TcpProxy | undefined,
    /** That of the running process, or of the last one. */
    pid: () => searchd.process.pid,
    /** Number of index rotations in its log. */
    rotations: () => rotations(join(directory, 'searchd.log')),
    /** Resolves when the process has ended. */
    end: async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
      runs = false;
      searchd.process.signal(signal);
      await searchd.process.ended;
    },
    pause: () => searchd.process.pause(),
    resume: () => searchd.process.signal('SIGCONT'),
    /** Does nothing when it runs. */
    start: async (): Promise<void> => {
      if (runs) return;
      searchd = await startSearchd({ directory, from: { configFile, port }, built: true, server });
      runs = true;
    },
    rotate: () => searchd.rotate(),
    stop: async (): Promise<void> => {
      await agent?.stop();
      await searchd.stop();
    },
  };
}

async function writeConfiguration(
  { directory, domain, documents, layout, server }: EngineServerOptions,
  { port, agentPort, agent }: { readonly port: number; readonly agentPort: number; readonly agent: string | undefined },
): Promise<string> {
  const halves = ['even', 'odd'].map((index, parity) => ({
    domain,
    index,
    documents: documents.filter((_, at) => at % 2 === parity),
  }));
  const { configFile } = await writeSphinxSource({
    directory,
    domains: layout === 'plain' ? [{ domain, index: INDEX, documents }] : halves,
    searchd: { dialect: server.dialect, host: '127.0.0.1', port, maxConnections: MAX_CONNECTIONS },
  });
  if (agent === undefined) return configFile;
  const generated = await readFile(configFile, 'utf8');
  // A distributed index must be declared after its parts.
  const whole = ['', `index ${INDEX}`, '{', 'type = distributed', 'agent_connect_timeout = 300'];
  const parts = ['local = even', `agent = ${agent}:odd`, '}', ''];
  const listening = generated.replace('searchd\n{', `searchd\n{\n  listen = 127.0.0.1:${agentPort}`);
  await writeFile(configFile, `${listening}${[...whole, ...parts].join('\n')}`);
  return configFile;
}
