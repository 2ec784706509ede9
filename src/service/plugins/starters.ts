import type { PluginFamily } from './families.ts'
import type { PluginSource } from './host-ports.ts'

/** The code of a new component without a URL: the least that belongs to its family, to be edited in place. It changes and sends nothing. */
export const starters: Readonly<Record<PluginFamily, PluginSource>> = {
  plugins: {},
  pipeline_transformations: { 'index.ts': 'export function processEvent(event) {\n  return event\n}\n' },
  pipeline_destinations: { 'index.ts': 'export async function onEvent(event) {}\n' },
  pipeline_frontend_apps: {},
  pipeline_import_apps: { 'index.ts': 'export async function runEveryHour() {}\n' },
}
