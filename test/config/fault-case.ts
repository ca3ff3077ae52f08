import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, goods } from './faults-of.ts';

/** A YAML text and all of its faults. */
export type FaultCase = readonly [
  fact: string,
  yaml: string,
  expected: readonly (readonly [path: string, value: string, allowed: RegExp])[],
];

export const withEngine = (rest: string): string => goods(`engine: { kind: sphinx, host: sphinx }\n${rest}`);
export const withStore = (store: string): string => withEngine(`store: ${store}`);

/** One test per case. The whole list is compared, so that a fault too many fails as well. */
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
