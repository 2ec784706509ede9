import { defineGlobals } from './globals.ts'
import { flush, run, runMany, settle, start } from './running.ts'

// The program that runs first in the context of each plugin, in QuickJS: globals, modules, `meta`, and the calls of the server. build/prelude.mjs makes one
// function of it. The plugin shares the context with it and can break what it finds there; it then breaks only itself, because the server checks what it gets.

defineGlobals()

/** The thread calls these by their position. */
export default [start, run, settle, runMany, flush]
