import type { Attribute } from '../../../src/search/domain.ts';
import type { Site } from '../../../src/ui/page/assets/address.mjs';

export const CITY: Attribute = { name: 'city', type: 'string', facet: true, sort: false };
export const PRICE: Attribute = { name: 'price', type: 'number', facet: false, sort: true };
export const SITE: Site = {
  domains: [{ name: 'goods', attributes: [CITY, PRICE], context: [{ name: 'region', values: ['ru', 'kz'] }] }],
  preferred: 'en',
  examples: [],
};
