import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/faults.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';

interface Given {
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string>;
}

/** A domain without a fault, for texts without `domains`. */
const SOUND = 'domains: { goods: { engine: { kind: sqlite } } }\n';

function settingsOf(yaml: string | undefined, { env = {}, files = {} }: Given): Settings {
  return loadSettings({
    env: { SERPCACHE_CONFIG: 'serpcache.yaml', ...env },
    cwd: '/srv',
    readFile: (path) => {
      const text = path === '/srv/serpcache.yaml' ? yaml : files[path];
      if (text === undefined) throw Object.assign(new Error('hunter2'), { code: 'ENOENT' });
      return text;
    },
  });
}

/** The faults of a YAML text. */
export function faultsOf(yaml: string | undefined, given: Given = {}): ConfigError {
  try {
    settingsOf(yaml?.includes('domains:') === false ? `${yaml}\n${SOUND}` : yaml, given);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'nothing was found at fault' });
}

/** The settings of a YAML text as if it were the configured file, without undefined members. */
export function load(yaml: string, given: Given = {}): Settings {
  return JSON.parse(JSON.stringify(settingsOf(yaml, given)));
}

/** The domain `goods` with the given settings. */
export const goods = (rest: string): string => `domains:\n  goods:\n    ${rest.trim().replaceAll('\n', '\n    ')}\n`;

/** A YAML text and all of its faults. */
export type FaultCase = readonly [
  fact: string,
  yaml: string,
  expected: readonly (readonly [path: string, value: string, allowed: RegExp])[],
];

export const withEngine = (rest: string): string => goods(`engine: { kind: sphinx, host: sphinx }\n${rest}`);
export const withStore = (store: string): string => withEngine(`store: ${store}`);

/** Registers one test per case. All faults are compared, so that an additional fault fails too. */
export function testFaults(cases: readonly FaultCase[]): void {
  for (const [fact, yaml, expected] of cases) {
    test(fact, () => {
      const { faults } = faultsOf(yaml, { files: { '/srv/text.pem': 'hunter2' } });
      const found = [...faults].map(({ path, value }) => `${path}: ${value}`).toSorted();
      assert.deepEqual(found, expected.map(([path, value]) => `${path}: ${value}`).toSorted());
      for (const [path, , allowed] of expected) {
        assert.match(faults.find((fault) => fault.path === path)?.allowed ?? '', allowed);
      }
    });
  }
}
