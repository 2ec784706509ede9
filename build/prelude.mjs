import { build } from 'esbuild'

/** The program around each plugin (src/service/plugins/prelude) as the text of one function of what the thread gives it. */
export async function preludeText() {
  const { outputFiles } = await build({
    absWorkingDir: new URL('..', import.meta.url).pathname,
    entryPoints: ['src/service/plugins/prelude/prelude.ts'],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'prelude',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
  })
  return `(function (hostCall, hostSync, hostDone, hostLog, settingsJson) {\n'use strict'\n${outputFiles[0].text}\nreturn prelude.default\n})`
}
