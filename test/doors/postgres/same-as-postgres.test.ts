import { sameAsPostgres } from './same-as-postgres.ts'

sameAsPostgres(150, 20_241_130)
