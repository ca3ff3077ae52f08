import { describeFault, type Fault } from '../schema/faults.ts';

/** A fault of the configuration. `path` is the setting, or the environment variable that set the value. */
export interface ConfigFault extends Omit<Fault, 'path'> {
  readonly path: string;
}

/** All faults of a configuration, in one error. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly ConfigFault[];

  constructor(source: string, faults: readonly ConfigFault[]) {
    const heading = `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'} in the configuration (${source}):`;
    super([heading, ...faults.map((fault) => `  ${describeFault(fault)}`)].join('\n'));
    this.faults = faults;
  }
}

/** The address of a listener in the configuration. */
interface ListenerAddress {
  readonly listener: 'public' | 'admin';
  readonly host: string;
  readonly port: number;
}

/** The fault of the setting whose address cannot be bound. Undefined for any other error. */
export function listenFault(error: unknown, { listener, host, port }: ListenerAddress): ConfigError | undefined {
  const fault = (setting: 'host' | 'port', value: string, allowed: string): ConfigError => {
    const variable = `${listener === 'admin' ? 'ADMIN_' : ''}${setting.toUpperCase()}`;
    return new ConfigError('addresses', [{ path: `${variable} (${listener}.${setting})`, value, allowed }]);
  };
  const ofMachine = 'an address or name of this machine, such as 127.0.0.1; 0.0.0.0 for all its addresses';
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return fault(
        'port',
        `${port} is taken by another process on ${host}`,
        'a free port, or 0 for any; PORT=8090 ADMIN_PORT=8091 starts a second service beside the first',
      );
    case 'EACCES':
      return fault('port', `${port} may not be bound by this user`, 'a port from 1024 to 65535, or 0 for a free one');
    case 'EADDRNOTAVAIL':
      return fault('host', `${host} is no address of this machine`, ofMachine);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return fault('host', `${host} cannot be resolved`, ofMachine);
    default:
      return undefined;
  }
}
