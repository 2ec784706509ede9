// The store of the account rules.

export type { Condition, FindOptions, Json, RowOf, Rows, Store, Where, WritableRows, WriteAll } from '../../lib/rows/ports.ts'
