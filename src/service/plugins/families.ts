import type { Plugin } from '../accounts/records.ts'
import type { Capabilities } from './host-ports.ts'

/** Views of the same plugins by what their code can do. Each plugin is in at least one beside `plugins`. */
const families = {
  plugins: () => true,
  pipeline_transformations: ({ methods = [] }) => methods.includes('processEvent'),
  pipeline_destinations: ({ methods = [] }) => methods.includes('onEvent') || methods.includes('composeWebhook'),
  // Also plugins whose code has not been loaded.
  pipeline_frontend_apps: ({ methods, scheduled_tasks }) => methods === undefined && scheduled_tasks === undefined,
  pipeline_import_apps: ({ methods, scheduled_tasks = [] }) =>
    scheduled_tasks.length > 0 ||
    methods?.includes('onRequest') === true ||
    (methods !== undefined && !['processEvent', 'onEvent', 'composeWebhook'].some((one) => methods.includes(one))),
} as const satisfies Readonly<Record<string, (capabilities: Capabilities) => boolean>>
export type PluginFamily = keyof typeof families

export const isIn = (family: PluginFamily, plugin: Pick<Plugin, 'capabilities'>): boolean =>
  families[family](plugin.capabilities as Capabilities)
