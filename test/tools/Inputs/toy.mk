# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The targets that .ci/run makes, without work: CHECK is the result of a test of `check`, or `none` for no results of `check-full`, DEMO the
# number of checks that fail (`none`: it breaks off), FAIL the step that ends with an error.
CHECK ?= PASS
DEMO ?= 0

check-full: check check-contractions

check check-contractions check-sanitizers:
	@mkdir -p build/test
	@[ $(CHECK) = none ] && [ $@ != check-sanitizers ] || echo '{"tests": [{"code": "PASS"}, {"code": "$(if $(filter check,$@),$(CHECK),PASS)"}]}' \
	  > build/test/$(if $(filter check,$@),results,$(@:check-%=%)).json
	@[ "$(FAIL)" != $@ ]

demo:
	@[ $(DEMO) = none ] || echo "demo: 3 checks passed, $(DEMO) failed"
	@[ "$(FAIL)" != $@ ] && [ $(DEMO) = 0 ]

.PHONY: check check-contractions check-full check-sanitizers demo
