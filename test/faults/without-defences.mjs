// `node --import=without-defences.mjs src/main.ts` turns defences of the service off, to measure what each is worth: the list
// `x-without` in the configuration file, which is JSON. The service has no such setting.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const MEMBER = 'disabledDefences: []';
const { 'x-without': without = [] } = JSON.parse(readFileSync(process.env.SERPCACHE_CONFIG, 'utf8'));

if (without.length > 0) {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!url.endsWith('/src/config/resolve.ts')) return loaded;
      const source = String(loaded.source);
      if (!source.includes(MEMBER)) throw new Error(`${url} does not have "${MEMBER}", where defences are turned off`);
      return { ...loaded, source: source.replace(MEMBER, `disabledDefences: ${JSON.stringify(without)}`) };
    },
  });
}
