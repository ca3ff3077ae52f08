import type { Attribute } from '../../../src/search/domain.ts';
import type { Site } from '../../../src/ui/page/assets/address.ts';
import type { Assets } from '../../../src/ui/shared/assets.ts';

/** The page's files, which tests of its HTML do not need. */
export const ASSETS: Assets = { prefix: '/assets/page', version: 'v1', byName: new Map() };
export const CITY: Attribute = { name: 'city', type: 'string', facet: true, sort: false };
export const PRICE: Attribute = { name: 'price', type: 'number', facet: false, sort: true };
export const SITE: Site = {
  domains: [{ name: 'goods', attributes: [CITY, PRICE], context: [{ name: 'region', values: ['ru', 'kz'] }] }],
  preferred: 'en',
  examples: [],
};
