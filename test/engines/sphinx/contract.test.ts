import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN, engineContract } from '../../contract/engine.ts';
import { eachServer, openSphinx } from './harness.ts';

eachServer((name, server) => {
  engineContract(`the engine over searchd of ${name}`, async () => {
    const { searchd, engine, remove } = await openSphinx({
      server,
      domains: [{ domain: CONTRACT_DOMAIN, index: 'contract', documents: CONTRACT_DOCUMENTS }],
    });
    const opened = engine({ domain: CONTRACT_DOMAIN, index: 'contract' });
    return {
      engine: opened,
      close: async () => {
        await opened.close();
        await searchd.stop();
        await remove();
      },
    };
  });
});
