export { logSources, logTypes, type PluginLogEntry } from './host-ports.ts'
