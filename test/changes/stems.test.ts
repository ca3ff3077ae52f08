import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoDocuments } from '../../src/catalogue/demo.ts';
import { documentClasses, isSameClass, searchClasses } from '../../src/changes/words.ts';
import { isNumber, piecesIn, textsOf } from '../../src/engines/analysis/words.ts';
import { openConnection } from '../../src/engines/sphinx/connection.ts';
import { eachServer, openSphinx } from '../engines/sphinx/harness.ts';
import { LIMIT_MS } from '../until.ts';
import { DOMAIN } from './harness.ts';

const FORMS = [
  'use using used uses useful usefulness age aging aged ages ice icing iced icy eye eyes make making carry carries carried try tries tried',
  'run running hop hopping hope hoping form formative formation operate operator operation good goodness agree agreed tie tying happy happily',
  'чай чая чаи чаю еда еды еде еду ёж ежи ежа ель ели яма ямы ямами ухо уха ось оси купить купил куплю купив купила продать продам продал',
  'делать делаю делает стоять стоит работать работаю работает мыть мою моет шить шью шил жить живу жил дать даю дал пить пил пью',
  'новый новая новейший красивейший тень тени день дни пень пни мышь мыши лев льва женский женственность радость радостный играл игра',
].join(' ');

eachServer((name, server) => {
  test(`a search is compared with every word that ${name} has under the same stem`, async (t) => {
    const catalogues = ['goods', 'auto', 'realty', 'jobs'].flatMap((domain) => [...demoDocuments(domain)]);
    const some = catalogues.filter((_, at) => at % 8 === 0);
    const texts = some.map(({ title, description }) => `${title} ${description}`);
    const words = [...new Set([...texts, FORMS].flatMap((text) => textsOf(piecesIn(text))))].filter(
      (word) => !isNumber(word),
    );
    const documents = [{ id: '1', title: 'дом', description: '', attributes: {} }];
    const { searchd, remove } = await openSphinx({ server, domains: [{ domain: DOMAIN, index: 'goods', documents }] });
    t.after(async () => {
      await searchd.stop();
      await remove();
    });
    const { send, destroy } = await openConnection(
      { host: '127.0.0.1', port: searchd.port, connectTimeoutMs: LIMIT_MS, onClose: () => undefined },
      AbortSignal.timeout(LIMIT_MS),
    );
    t.after(destroy);
    const families = new Map<unknown, Set<string>>();
    for (let at = 0; at < words.length; at += 100) {
      const [rows = []] = await send(`CALL KEYWORDS('${words.slice(at, at + 100).join(' ')}', 'goods')`);
      for (const [, word, stem] of rows) {
        const family = families.get(stem) ?? new Set();
        families.set(stem, family.add(String(word)));
      }
    }
    let pairs = 0;
    const missed: string[] = [];
    for (const family of families.values()) {
      const held = [...family].map((word) => ({ word, classes: documentClasses(word) }));
      for (const asked of family) {
        const wanted = searchClasses(asked).flat();
        for (const { word, classes } of held) {
          pairs += 1;
          if (!wanted.some((one) => classes.some((other) => isSameClass(one, other)))) missed.push(`${asked}: ${word}`);
        }
      }
    }
    assert.deepEqual(missed, []);
    assert.ok(pairs > 5000, `${pairs} pairs of words`);
  });
});
