import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicApi } from './public-api.ts'

// Writes down what the built types export (`npm run build` first):   npm run api

const root = join(import.meta.dirname, '../..')
const built = join(root, 'dist/index.d.ts')
if (!existsSync(built)) throw new Error('dist/index.d.ts is not there. Run `npm run build` first.')
writeFileSync(join(import.meta.dirname, 'public-api.txt'), publicApi(readFileSync(built, 'utf8')))
