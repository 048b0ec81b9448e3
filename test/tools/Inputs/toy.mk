# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The targets that .ci/run makes, without work: CHECK is the result of a test of `check`, or `none` for no results of it, DEMO the
# number of checks that fail (`none`: it breaks off), FAIL the step that ends with an error.
CHECK ?= PASS
DEMO ?= 0
# Tests of the Python packages that fail of four, one of which is skipped (`none`: no results), and whether a package index answers.
PYTHON ?= 0
INDEX ?= 1

# `check` leaves out what the others test; nothing is left out of these.
FILTERED = ""
check: FILTERED = embed/contractions*
check check-contractions check-sanitizers:
	@case "$$LIT_FILTER_OUT" in $(FILTERED)) ;; *) exit 1 ;; esac
	@mkdir -p build/test
	@[ $(CHECK) = none ] && [ $@ = check ] || echo '{"tests": [{"code": "PASS"}, {"code": "$(if $(filter check,$@),$(CHECK),PASS)"}]}' \
	  > build/test/$(if $(filter check,$@),results,$(@:check-%=%)).json
	@[ "$(FAIL)" != $@ ]

demo:
	@[ $(DEMO) = none ] || echo "demo: 3 checks passed, $(DEMO) failed"
	@[ "$(FAIL)" != $@ ] && [ $(DEMO) = 0 ]

has-package-index:
	@[ $(INDEX) = 1 ]

python-test-packages:
	@[ "$(FAIL)" != $@ ]

check-python:
	@mkdir -p build/test
	@[ $(PYTHON) = none ] || echo '<testsuites><testsuite tests="4" failures="$(PYTHON)" errors="0" skipped="1"/></testsuites>' > build/test/python.xml
	@[ "$(FAIL)" != $@ ] && [ $(PYTHON) = 0 ]

.PHONY: has-package-index python-test-packages check-python check check-contractions check-sanitizers demo
