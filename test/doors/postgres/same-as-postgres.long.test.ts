import { sameAsPostgres } from './same-as-postgres.ts'

sameAsPostgres(1000, Number(process.env.WAYMARK_SEED ?? 1))
