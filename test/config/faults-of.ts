import assert from 'node:assert/strict';
import { ConfigError } from '../../src/config/faults.ts';
import { loadSettings } from '../../src/config/load.ts';

interface Given {
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string>;
}

/** A domain without a fault, for texts that are about something else. */
const SOUND = 'domains: { goods: { engine: { kind: sqlite } } }\n';

/** The faults of a YAML text, as `path: value`, with what is allowed. */
export function faultsOf(yaml: string | undefined, { env = {}, files = {} }: Given = {}): ConfigError {
  try {
    loadSettings({
      env: { SERPCACHE_CONFIG: 'serpcache.yaml', ...env },
      cwd: '/srv',
      readFile: (path) => {
        const whole = yaml?.includes('domains:') === false ? `${yaml}\n${SOUND}` : yaml;
        const text = path === '/srv/serpcache.yaml' ? whole : files[path];
        if (text === undefined) throw Object.assign(new Error('hunter2'), { code: 'ENOENT' });
        return text;
      },
    });
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'nothing was found at fault' });
}

/** One domain, the rest of it as given. */
export const goods = (rest: string): string => `domains:\n  goods:\n    ${rest.trim().replaceAll('\n', '\n    ')}\n`;
