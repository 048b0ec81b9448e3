// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names, read once from the headers of glibc 2.36 with all that they declare (-std=gnu17 -D_GNU_SOURCE): functions,
// variables, types, and enumerators and macros in lower case. Left out is what the language reserves (`__x`, `_X`), the
// functions for _FloatN, and macros that are members of structures. Added are `environ`, `imaginary`, and what startup
// code and linkers define. LLVM's TargetLibraryInfo, which Names.cpp asks too, knows 355 of all 2,056. Of the other
// 1,701, a family is written as what its names begin with, and `cacosf` or `asctime_r` is a variant of `cacos` or
// `asctime`.

#include "codegen/boundary/Names.h"

#include "llvm/ADT/STLExtras.h"

static constexpr llvm::StringLiteral kFamilies[] = {
    "aio_",  "atomic_", "clock_",   "cnd_",   "inet_", "inet6_", "memory_order_", "mq_",  "mtx_", "obstack_",
    "pkey_", "posix_",  "pthread_", "sched_", "sem_",  "thrd_",  "timer_",        "tss_", "wcs"};
static constexpr llvm::StringLiteral kVariants[] = {"f", "l", "64", "_l", "_np", "_r", "_unlocked"};
static constexpr llvm::StringLiteral kNames =
    "ACTION DIR Dl_info Dl_serinfo Dl_serpath ENTRY FILE Lmid_t VISIT _dl_find_object _dl_mcount_wrapper_check _edata "
    "_end _etext _exit _fini _init _longjmp _setjmp _start _tolower _toupper a64l accept accept4 acct active_reg_t "
    "addseverity adjtime alarm alloca alphasort arc4random arc4random_buf arc4random_uniform asctime asprintf assert "
    "assert_perror at_quick_exit basename be16toh be32toh be64toh bind bindresvport bindresvport6 blkcnt64_t blkcnt_t "
    "blksize_t brk bsearch btowc c16rtomb c32rtomb c8rtomb cacos cacosh caddr_t call_once canonicalize "
    "canonicalize_file_name carg casin casinh catan catanh catclose catgets catopen cc_t ccos ccosh cexp cfgetispeed "
    "cfgetospeed cfmakeraw cfsetispeed cfsetospeed cfsetspeed chdir chroot cimag clearenv clearerr_unlocked clock "
    "clockid_t clog clog10 clone close close_range closefrom closelog comparison_fn_t complex confstr conj connect "
    "cookie_close_function_t cookie_io_functions_t cookie_read_function_t cookie_seek_function_t "
    "cookie_write_function_t copy_file_range cpow cproj cpu_set_t creal creat crypt csin csinh csqrt ctan ctanh ctime "
    "cuserid daddl daddr_t daemon daylight ddivl dev_t dfmal difftime dirfd dirname div div_t dladdr dladdr1 dlclose "
    "dlerror dlinfo dlmopen dlopen dlsym dlvsym dmull double_t dprintf drand48 drem dsqrtl dsubl dup dup2 dup3 "
    "duplocale dysize eaccess ecvt endgrent endhostent endnetent endnetgrent endorder endprotoent endpwent endrpcent "
    "endservent endusershell endutxent environ erand48 erfc errno error_t euidaccess execveat explicit_bzero faccessat "
    "fadd fallocate fchdir fchmod fchmodat fchown fchownat fcloseall fcntl fcvt fd_mask fd_set fdatasync fdiv "
    "fdopendir feclearexcept fedisableexcept feenableexcept fegetenv fegetexcept fegetexceptflag fegetmode fegetround "
    "feholdexcept femode_t fenv_t feof_unlocked feraiseexcept ferror_unlocked fesetenv fesetexcept fesetexceptflag "
    "fesetmode fesetround fetestexcept fetestexceptflag feupdateenv fexcept_t fexecve fflush_unlocked ffma fgetgrent "
    "fgetpos64 fgetpwent fgetwc fgetws fileno_unlocked finite float_t fma fmaximum fmaximum_mag fmaximum_mag_num "
    "fmaxmag fmemopen fminimum fminimum_mag fminimum_mag_num fminmag fmtmsg fmul fnmatch fopencookie fpathconf "
    "fpclassify fpos64_t fpos_t fpregset_t fputwc fputws freeaddrinfo freelocale freopen fromfp fromfpx fsblkcnt64_t "
    "fsblkcnt_t fsetpos64 fsfilcnt64_t fsfilcnt_t fsid_t fsqrt fstatat fsub fsync ftok ftruncate ftw futimens futimes "
    "futimesat fwide fwprintf fwscanf gai_cancel gai_error gai_strerror gai_suspend gamma gcvt get_current_dir_name "
    "getaddrinfo getaddrinfo_a getcpu getcwd getdate getdate_err getdelim getdents64 getdirentries getdomainname "
    "getdtablesize getegid getentropy geteuid getgid getgrent getgrgid getgrnam getgrouplist getgroups gethostbyaddr "
    "gethostbyname gethostbyname2 gethostent gethostid gethostname getipv4sourcefilter getline getloadavg getlogin "
    "getnameinfo getnetbyaddr getnetbyname getnetent getnetgrent getopt getpagesize getpass getpayload getpeername "
    "getpgid getpgrp getpid getppid getpriority getprotobyname getprotobynumber getprotoent getpt getpw getpwent "
    "getpwnam_r getpwuid getresgid getresuid getrlimit getrpcbyname getrpcbynumber getrpcent getrusage getservbyname "
    "getservbyport getservent getsid getsockname getsockopt getsourcefilter getsubopt gettid getuid getumask "
    "getusershell getutmp getutmpx getutxent getutxid getutxline getw getwc getwchar getwd gid_t glob glob64_t "
    "glob_pattern_p glob_t globfree gmtime grantpt greg_t gregset_t group_member gsignal h_errno hcreate hdestroy "
    "herror hsearch hstrerror htobe16 htobe32 htobe64 htole16 htole32 htole64 iconv iconv_close iconv_open iconv_t "
    "id_t idtype_t if_freenameindex if_indextoname if_nameindex if_nametoindex imaginary imaxabs imaxdiv imaxdiv_t "
    "in6addr_any in6addr_loopback in_addr_t in_port_t index initgroups initstate innetgr ino64_t ino_t insque int16_t "
    "int32_t int64_t int8_t int_fast16_t int_fast32_t int_fast64_t int_fast8_t int_least16_t int_least32_t "
    "int_least64_t int_least8_t intmax_t intptr_t iruserok iruserok_af isalnum isalpha isascii_l isatty isblank "
    "iscanonical iscntrl isctype isdigit_l iseqsig isfdtype isfinite isgraph isgreater isgreaterequal isinf isless "
    "islessequal islessgreater islower isnan isnormal isprint ispunct issignaling isspace issubnormal isunordered "
    "isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace "
    "iswupper iswxdigit isxdigit iszero j0 j1 jmp_buf jn jrand48 key_t kill kill_dependency killpg l64a lchmod lcong48 "
    "ldiv ldiv_t le16toh le32toh le64toh leaf lfind lgamma lgammaf_r lgammal_r link linkat lio_listio listen lldiv "
    "lldiv_t llogb llrint llround locale_t localeconv localtime lockf loff_t longjmp lrand48 lrint lround lsearch "
    "lseek lutimes madvise math_errhandling max_align_t mblen mbrlen mbrtoc16 mbrtoc32 mbrtoc8 mbrtowc mbsinit "
    "mbsnrtowcs mbsrtowcs mbstate_t mbstowcs mbtowc mcontext_t memfd_create memfrob memmem memory_order mincore "
    "mkdirat mkdtemp mkfifo mkfifoat mknod mknodat mkostemp mkostemps mkstemp mkstemps mktemp mlock mlock2 mlockall "
    "mmap mode_t mprotect mqd_t mrand48 mremap msgctl msgget msglen_t msgqnum_t msgrcv msgsnd msync munlock munlockall "
    "munmap name_to_handle_at nanosleep newlocale nextdown nextup nfds_t nftw nice nl_catd nl_item nl_langinfo nlink_t "
    "noreturn nrand48 off64_t off_t offsetof on_exit once_flag open_by_handle_at open_memstream open_wmemstream openat "
    "openlog optarg opterr optind optopt pathconf pause pid_t pipe pipe2 poll postorder ppoll pread64 preadv preadv2 "
    "preadv64v2 preorder prlimit process_madvise process_mrelease process_vm_readv process_vm_writev profil "
    "program_invocation_name program_invocation_short_name pselect psiginfo psignal ptrdiff_t ptsname putenv putgrent "
    "putpwent pututxline putw putwc putwchar pwrite64 pwritev pwritev2 pwritev64v2 qecvt qfcvt qgcvt qsort_r quad_t "
    "quick_exit raise rand random rawmemchr rcmd rcmd_af re_compile_fastmap re_compile_pattern re_match re_match_2 "
    "re_search re_search_2 re_set_registers re_set_syntax re_syntax_options readahead readdir readdir64_r readlinkat "
    "readv recv recvfrom recvmmsg recvmsg reg_errcode_t reg_syntax_t regcomp regerror regex_t regexec regfree "
    "register_t regmatch_t regoff_t remap_file_pages remque renameat renameat2 revoke rewinddir rexec rexec_af rindex "
    "rlim64_t rlim_t rpmatch rresvport rresvport_af ruserok ruserok_af s_reg_t sa_family_t sbrk scalb scandir "
    "scandirat secure_getenv seed48 seekdir select semctl semget semop semtimedop send sendmmsg sendmsg sendto "
    "setbuffer setdomainname setegid setenv seteuid setgid setgrent setgroups sethostent sethostid sethostname "
    "setipv4sourcefilter setjmp setlinebuf setlocale setlogin setlogmask setnetent setnetgrent setns setpayload "
    "setpayloadsig setpgid setpgrp setpriority setprotoent setpwent setregid setresgid setresuid setreuid setrlimit "
    "setrpcent setservent setsid setsockopt setsourcefilter setstate settimeofday setuid setusershell setutxent "
    "shm_open shm_unlink shmat shmatt_t shmctl shmdt shmget shutdown sig_atomic_t sig_t sigabbrev_np sigaction "
    "sigaddset sigaltstack sigandset sigblock sigdelset sigdescr_np sigemptyset sigevent_t sigfillset siggetmask "
    "sighandler_t sighold sigignore siginfo_t siginterrupt sigisemptyset sigismember sigjmp_buf siglongjmp sigmask "
    "signal signbit signgam significand sigorset sigpause sigpending sigprocmask sigqueue sigrelse sigreturn sigset "
    "sigset_t sigsetjmp sigsetmask sigstack sigsuspend sigtimedwait sigval_t sigwait sigwaitinfo size_t sleep "
    "sockatmark socket socketpair socklen_t speed_t splice srand srand48 srandom ssignal ssize_t stack_t statx stderr "
    "stdin stdout strcasecmp_l strcasestr strchrnul strcoll_l strdupa strerror strerrordesc_np strerrorname_np strfmon "
    "strfromd strfromf strfroml strfry strftime strncasecmp_l strndupa strptime strsep strsignal strtod_l strtof32_l "
    "strtof32x_l strtof64_l strtof64x_l strtof_l strtoimax strtol_l strtold_l strtoll_l strtoq strtoul_l strtoull_l "
    "strtoumax strtouq strverscmp strxfrm_l suseconds_t swab swprintf swscanf symlink symlinkat sync sync_file_range "
    "syncfs syscall sysconf syslog sysv_signal tcdrain tcflag_t tcflow tcflush tcgetattr tcgetpgrp tcgetsid tcp_seq "
    "tcsendbreak tcsetattr tcsetpgrp tdelete tdestroy tee telldir tempnam tfind tgkill time time_t timegm timelocal "
    "timeradd timerclear timercmp timerisset timersub timespec_get timespec_getres timezone tmpnam toascii_l tolower "
    "totalorder totalordermag toupper towctrans towlower towupper truncate tsearch ttyname ttyslot twalk tzname tzset "
    "u_char u_int u_int16_t u_int32_t u_int64_t u_int8_t u_long u_quad_t u_short ualarm ucontext_t ufromfp ufromfpx "
    "uid_t uint uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t uint_fast64_t uint_fast8_t "
    "uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ulimit ulong umask ungetwc "
    "unlinkat unlockpt unshare updwtmpx useconds_t uselocale ushort usleep utimensat utmpxname va_arg va_copy va_end "
    "va_list va_start vasprintf vdprintf versionsort vfork vfwprintf vfwscanf vhangup vmsplice vswprintf vswscanf "
    "vsyslog vwprintf vwscanf wait wait3 wait4 waitid waitpid wcpcpy wcpncpy wcrtomb wctob wctomb wctrans wctrans_t "
    "wctype wctype_t wcwidth wint_t wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset wordexp wordexp_t wordfree "
    "wprintf writev wscanf y0 y1 yn";

bool mlir::resid::boundary::isLibraryName(llvm::StringRef name) {
  static const llvm::StringSet<> names = makeNameSet(kNames);
  auto isVariant = [&](llvm::StringRef ending) {
    return name.ends_with(ending) && names.contains(name.drop_back(ending.size()));
  };
  return names.contains(name) ||
         llvm::any_of(kFamilies, [&](llvm::StringRef begin) { return name.starts_with(begin); }) ||
         llvm::any_of(kVariants, isVariant);
}
