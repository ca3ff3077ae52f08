export * from './format.mjs';
