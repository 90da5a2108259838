export { checkTables, type TableFault } from './check-tables.ts';
export { classify } from './classify.ts';
