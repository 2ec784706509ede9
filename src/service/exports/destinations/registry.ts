import { bigQuery } from './bigquery.ts'
import type { Destination } from './destination.ts'
import { httpDestination } from './http.ts'
import { localFiles } from './local-files.ts'
import { noOp } from './no-op.ts'
import { postgres } from './postgres.ts'
import { redshift } from './redshift.ts'
import { s3 } from './s3.ts'
import { snowflake } from './snowflake.ts'

const all: readonly Destination[] = [bigQuery, httpDestination, localFiles, noOp, postgres, redshift, s3, snowflake]

/** By the name in `destination.type`. */
export const destinations: ReadonlyMap<string, Destination> = new Map(all.map((one) => [one.type, one]))
