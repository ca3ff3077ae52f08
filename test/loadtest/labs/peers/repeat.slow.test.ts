import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { SIZES } from '../../../../loadtest/labs/peers/peer.ts';
import { PEERS } from '../../../../loadtest/labs/peers/peers.ts';
import type { PageFigures } from '../../../../loadtest/labs/peers/serving.ts';
import { tablesOf } from '../../../../loadtest/labs/peers/tables.ts';

const FIGURES: PageFigures = {
  ...{ perSecond: 1, perCore: 1, serverCores: 1, clientCores: 1, storeUs: 0, storeCommands: 0, p50Ms: 1, p99Ms: 1 },
  ...{ storeCores: 0, storeCommandsAtRate: 0, limit: 'store', spreads: { perCore: 1, p50Ms: 1, p99Ms: 1 } },
};

test('the command that repeats a cached-pages row names its own peer and the number of pages of the table', () => {
  const outcomes = PEERS.map((peer) => ({ peer, page: FIGURES, many: FIGURES, problems: [] }));
  const commands = tablesOf(outcomes, SIZES).map(({ rows }) => rows.flatMap(({ command }) => command ?? []));
  for (const pages of [1, SIZES.pages])
    assert.ok(
      commands.some((all) => all.join('\n') === PEERS.map((peer) => commandOf(peer.name, pages)).join('\n')),
      `${pages}`,
    );
});

function commandOf(name: string, pages: number): string {
  return `node loadtest/labs/peers/repeat.ts '${name}' ${pages}`;
}

test('a command with an unknown peer, or more pages than exist, is refused with the available values', () => {
  for (const [words, told] of [
    [['nobody'], /no peer "nobody"; allowed: .*'Varnish', /],
    [[], /an argument is missing/],
    [['Varnish', '0'], /pages takes a whole number from 1 to /],
    [['Varnish', String(SIZES.pages + 1)], /pages takes a whole number from 1 to /],
    [['Varnish', '1', 'x'], /an argument too many: "x"/],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, ['loadtest/labs/peers/repeat.ts', ...words], {
      cwd: new URL('../../../..', import.meta.url),
      encoding: 'utf8',
    });
    assert.equal(status, 64, words.join(' '));
    assert.match(stderr, told);
  }
});
