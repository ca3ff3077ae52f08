import { CONTRACT_DOCUMENTS, CONTRACT_DOMAIN, engineContract } from '../../contract/engine.ts';
import { openSphinx } from './open.ts';

engineContract('sphinx over searchd', async () => {
  const { searchd, engine, remove } = await openSphinx({
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
