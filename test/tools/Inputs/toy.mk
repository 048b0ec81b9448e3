# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The targets that .ci/run makes, without work: CHECK is the result of a test of `check`, or `none` for no results, DEMO the number of
# checks that fail (`none`: it breaks off), FAIL the step that ends with an error.
CHECK ?= PASS
DEMO ?= 0

check check-sanitizers:
	@mkdir -p build/test
	@[ $@-$(CHECK) = check-none ] || echo '{"tests": [{"code": "PASS"}, {"code": "$(if $(filter check,$@),$(CHECK),PASS)"}]}' \
	  > build/test/$(if $(filter check,$@),results,sanitizers).json
	@[ "$(FAIL)" != $@ ]

demo:
	@[ $(DEMO) = none ] || echo "demo: 3 checks passed, $(DEMO) failed"
	@[ "$(FAIL)" != $@ ] && [ $(DEMO) = 0 ]

.PHONY: check check-sanitizers demo
