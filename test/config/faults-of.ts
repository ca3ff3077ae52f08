import assert from 'node:assert/strict';
import { ConfigError } from '../../src/config/faults.ts';
import { loadSettings } from '../../src/config/load.ts';

interface Given {
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string>;
}

/** The faults of a YAML text, as `path: value`, with what is allowed. */
export function faultsOf(yaml: string | undefined, { env = {}, files = {} }: Given = {}): ConfigError {
  try {
    loadSettings({
      env: { SERPCACHE_CONFIG: 'serpcache.yaml', ...env },
      cwd: '/srv',
      readFile: (path) => {
        const text = path === '/srv/serpcache.yaml' ? yaml : files[path];
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
