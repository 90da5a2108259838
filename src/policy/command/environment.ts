/**
 * Which variables a plan may give to a command. A variable can choose the program that runs, the libraries
 * it loads or the code it starts with, so names known to do that are refused, and so are names that look
 * like it: `..._OPTIONS`, `..._PATH`. A policy may open a name of the second kind, never one of the first.
 */

/** Programs, loaders, interpreters and shells take code or programs from these. Never a plan's to set. */
const NEVER =
  /^(PATH|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|CDPATH|FPATH|ZDOTDIR|HOME|USER|LOGNAME|LD_.*|DYLD_.*|BASH.*|NODE_.*|DENO_.*|BUN_.*|NPM_.*|YARN_.*|GIT_.*|SSH_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|_JAVA_.*|JDK_.*|CLASSPATH|LUA_.*|PHP.*|DOTNET_.*|COMPLUS_.*|CORECLR_.*|GCONV_PATH|GLIBC_TUNABLES|MALLOC_.*|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|OPENSSL_.*|SSL_.*|CURL_.*|WGETRC|TAR_OPTIONS|RSYNC_.*|GREP_OPTIONS|LESS.*|MORE|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|TERMINFO.*|TERMCAP|INPUTRC|VIMINIT|EXINIT|MAKEFLAGS|MAKEFILES|RUSTC.*|CARGO_.*|GO(FLAGS|ROOT|PATH|ENV)|CC|CXX|LD|AR|AS|XDG_.*|DBUS_.*|DISPLAY|SYSTEMD_.*|WRIT_.*|TMPDIR|PKG_CONFIG.*|ALL_PROXY|HTTPS?_PROXY|FTP_PROXY|NO_PROXY|AWKPATH|AWKLIBPATH|TCLLIBPATH|R_.*|JULIA_.*|KUBECONFIG|DOCKER_.*|SUDO_.*|EMACS.*|PIP_.*|VIRTUAL_ENV|UV_.*|POETRY_.*)$/i;

/** Endings that name programs, files of settings, or options for some program we have not heard of. */
const SUSPECT =
  /(PATH|LIB|LIBS|LIBRARY|_OPT|OPTS|OPTIONS|FLAGS|ARGS|HOME|_DIR|CONFIG|CONF|RC|_RSH|ASKPASS|EDITOR|PAGER|BROWSER|SHELL|WRAPPER|PRELOAD|COMMAND|_CMD|_EXEC|_EXE|_BIN|PROGRAM|PLUGIN|PLUGINS|MODULE|MODULES|HOOK|HOOKS|INIT|STARTUP|PROFILE|PROXY|LOADER|AGENT|SOCK|_FUNC.*)$/i;

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Why a plan may not set this variable, or undefined. */
export function variableMistake(name: string, allowed: readonly string[]): string | undefined {
  if (!NAME.test(name)) return `"${name}" is not the name of a variable`;
  if (NEVER.test(name)) return `${name} can change which code runs, so a plan may not set it`;
  if (SUSPECT.test(name) && !allowed.includes(name))
    return `${name} looks like it could change which code runs; allow_env can list it`;
  return undefined;
}
