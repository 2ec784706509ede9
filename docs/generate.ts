import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from './pages.ts'

for (const [name, text] of Object.entries(pages)) writeFileSync(join(import.meta.dirname, name), text())
